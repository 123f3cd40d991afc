import Foundation

/// Simulates losses of power: records what a worker writes, makes images of what the disk may hold
/// at some moment, and opens them.
struct PowerAttack: Attack {
    let name = "power"
    let goal = "each durability keeps its promise, and every image is whole"
    let shortTries = 150

    /// The number of images that are made of one record.
    private static let imagesOfRecord = 30

    /// What is recorded, and which promise its images have to keep.
    struct Promise {
        let durability: String
        let flavour: Worker.Flavour
        let mayLoseLast: Bool
    }

    private static let promises = [
        Promise(durability: "sync", flavour: .keep, mayLoseLast: false),
        Promise(durability: "noMetaSync", flavour: .keep, mayLoseLast: true),
        Promise(durability: "noMetaSync", flavour: .rough, mayLoseLast: true),
        Promise(durability: "sync", flavour: .rough, mayLoseLast: false),
        Promise(durability: "noMetaSync", flavour: .keep, mayLoseLast: true),
    ]

    func run(tries: Int, seed: Int, in scratch: Scratch) throws -> Score {
        var score = Score()
        var log: PowerLog?
        for number in 0..<tries {
            let promise = Self.promises[(seed + number) / Self.imagesOfRecord % Self.promises.count]
            let group = (seed + number) / Self.imagesOfRecord
            if number == 0 || (seed + number) % Self.imagesOfRecord == 0 {
                log = try Self.record(promise, seed: group, in: scratch)
            }
            guard let log else { break }
            score.tries += 1
            score["images of \(promise.durability)"] += 1
            let crew = try Crew(scratch, budget: 8 << 20)
            if let failure = try Self.play(seed + number, log, promise, on: crew, &score) {
                score.fail(seed + number, "\(promise.durability): \(failure), \(crew.place)")
            } else {
                crew.remove()
            }
        }
        return score
    }

    func summary(_ score: Score) -> String {
        "\(score["images of sync"]) images of sync, \(score["images of noMetaSync"]) of noMetaSync,"
            + " \(score.failures.count) failed"
    }

    private static func record(_ promise: Promise, seed: Int, in scratch: Scratch) throws
        -> PowerLog
    {
        let crew = try Crew(
            scratch, budget: promise.flavour == .keep ? 8 << 20 : 1 << 20,
            options: ["--durability", promise.durability])
        defer { crew.remove() }
        let path = scratch.path("record")
        defer { Files.remove(path) }
        let ending = try crew.work(
            0, promise.flavour, seed: seed, operations: promise.flavour == .keep ? 80 : 150,
            ["--record", path])
        guard ending == .exited(0) else {
            throw Mistake("recording: \(ending), \(crew.output(0))")
        }
        return try PowerLog(path)
    }

    private static func play(
        _ seed: Int, _ log: PowerLog, _ promise: Promise, on crew: Crew, _ score: inout Score
    ) throws -> String? {
        var random = Random(seed: seed)
        let image = PowerImage(log, mayLoseLast: promise.mayLoseLast, &random)
        try image.write(to: crew.directory)
        let progress = try crew.progress(0)
        for (tree, version) in image.submitted { progress.submit(tree, version) }
        for (tree, version) in image.acknowledged { progress.acknowledge(tree, version) }
        let result = try crew.check(owners: 1)
        return result.ending == .exited(0) ? nil : "\(result.ending), \(result.line)"
    }

    func canaries(seed: Int, in scratch: Scratch) throws -> [(name: String, isCaught: Bool)] {
        func isCaught(_ promise: Promise, recorded durability: String) throws -> Bool {
            let recorded = Promise(
                durability: durability, flavour: promise.flavour, mayLoseLast: promise.mayLoseLast)
            let log = try Self.record(recorded, seed: seed, in: scratch)
            for number in 0..<100 {
                let crew = try Crew(scratch, budget: 8 << 20)
                defer { crew.remove() }
                var score = Score()
                if try Self.play(seed + number, log, promise, on: crew, &score) != nil {
                    return true
                }
            }
            return false
        }
        return [
            ("noSync, as if it were sync", try isCaught(Self.promises[0], recorded: "noSync")),
            (
                "noMetaSync, as if it were sync",
                try isCaught(Self.promises[0], recorded: "noMetaSync")
            ),
        ]
    }
}
