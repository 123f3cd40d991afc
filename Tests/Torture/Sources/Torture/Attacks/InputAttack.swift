import Foundation

/// Imports mutated documents and exports, and exports of hostile records, by the tool.
struct InputAttack: Attack {
    let name = "input"
    let goal = "success or an error in words; 0 crashes, hangs, damage to the cache"
    let shortTries = 150

    /// The number of inputs that go into one cache.
    private static let inputsOfCache = 25
    /// How long an import may take, in seconds.
    private static let patience = 20.0

    func run(tries: Int, seed: Int, in scratch: Scratch) throws -> Score {
        var score = Score()
        var crew: Crew?
        for number in 0..<tries {
            if number % Self.inputsOfCache == 0 || crew == nil {
                crew?.remove()
                crew = try Self.crew(scratch)
            }
            guard let current = crew else { break }
            score.tries += 1
            if let failure = try Self.play(seed + number, on: current, &score) {
                score.fail(seed + number, "\(failure), \(current.place)")
                crew = nil
            }
        }
        crew?.remove()
        return score
    }

    func summary(_ score: Score) -> String {
        "\(score["stored"]) stored, \(score["refused"]) refused, \(score.failures.count) failed"
    }

    /// Makes a cache with trees that no import touches.
    private static func crew(_ scratch: Scratch) throws -> Crew {
        // The tool stores values that are deeper than the library's usual limit.
        let crew = try Crew(scratch, budget: 50 << 20, options: ["--depth", "1024"])
        guard try crew.work(0, .fill, seed: 1, operations: Progress.trees) == .exited(0) else {
            throw Mistake("the cache can't be filled: \(crew.output(0))")
        }
        return crew
    }

    private static func play(_ seed: Int, on crew: Crew, _ score: inout Score) throws -> String? {
        var random = Random(seed: seed)
        let path = crew.directory + ".input"
        var (name, options) = ("", [String]())
        switch seed % 3 {
        case 0:
            name = "a document"
            options = ["--id-key", "id_str", "--path", "statuses", "--root-type", "Status"]
            if random.happens(0.5) { options += ["--collection", "search"] }
            if random.happens(0.3) { options += ["--merge"] }
            try Files.write(Data(Samples.mutated(Samples.document, &random)), to: path)
        case 1:
            (name, options) = ("an export", ["--records"])
            try Files.write(Data(Samples.mutated(Samples.export, &random)), to: path)
        default:
            let (forged, text) = Samples.forgery(&random)
            (name, options) = (forged, ["--records"])
            try Files.write(Data(text.utf8), to: path)
        }
        let commands = [
            ["import", crew.directory, path] + options, ["get", crew.directory, "F:0"],
            ["get", crew.directory, "Status:1", "--explain"], ["export", crew.directory],
        ]
        for (index, command) in commands.enumerated() {
            let output = crew.directory + ".output"
            let (ending, line) = try Tool.run(command, output: output, seconds: patience)
            // Success, a failure, a miss, and wrong arguments.
            guard [0, 1, 2, 64].map(Child.Ending.exited).contains(ending) else {
                return "\(command[0]) of \(name): \(ending), \(line)"
            }
            if ending != .exited(0), line.isEmpty { return "\(command[0]) of \(name) says nothing" }
            if index == 0 { score[ending == .exited(0) ? "stored" : "refused"] += 1 }
        }
        let finding = try crew.finding(owners: 1, ["--verify", "whole"])
        return finding.map { "after \(name): \($0)" }
    }

    func canaries(seed: Int, in scratch: Scratch) throws -> [(name: String, isCaught: Bool)] {
        let crew = try Self.crew(scratch)
        defer { crew.remove() }
        // An import that has changed bytes of the file.
        let path = try Files.dataFile(in: crew.directory)
        var bytes = [UInt8](Files.read(path) ?? Data())
        for page in stride(from: 8_192, to: bytes.count - 2_048, by: 4_096) {
            bytes[page + 2_000] ^= 1
        }
        try Files.write(Data(bytes), to: path)
        var score = Score()
        return [("damage to the cache", try Self.play(seed, on: crew, &score) != nil)]
    }
}
