import Foundation
import Glibc

/// Damages `data.mdb`, and uses the cache in a child, which may crash.
///
/// Damage is *noticed* if the intact mark in the guard file does not match the damaged file any
/// more. It is *unnoticed* if it does, as when a drive returns other bytes than were written.
struct DamageAttack: Attack {
    let name = "damage"
    let goal = "noticed: no crash; unnoticed: at most 2 % crash once, none twice; 0 wrong, 0 hangs"
    let shortTries = 300

    /// The cache that images are copies of.
    private struct Template {
        let crew: Crew
        let owners: Int
        /// `data.mdb` as it was some writes before.
        let old: Data
        let new: Data
    }

    func run(tries: Int, seed: Int, in scratch: Scratch) throws -> Score {
        let small = try Self.template(isLarge: false, in: scratch)
        let large = try Self.template(isLarge: true, in: scratch)
        defer { for template in [small, large] { template.crew.remove() } }
        var score = Score()
        for number in 0..<tries {
            let seed = seed + number
            let (isNoticed, isLarge) = (seed % 2 == 0, seed / 2 % 2 == 0)
            let kind = isNoticed ? "noticed" : isLarge ? "unnoticed large" : "unnoticed small"
            score.tries += 1
            score[kind] += 1
            let crew = try Crew(scratch, budget: 8 << 20, options: ["--uncompressed", "yes"])
            let template = isLarge ? large : small
            let failure = try Self.play(seed, isNoticed, template, on: crew, kind, &score)
            if let failure {
                score.fail(seed, "\(kind): \(failure), \(crew.place)")
            } else {
                crew.remove()
            }
        }
        return score
    }

    func summary(_ score: Score) -> String {
        ["noticed", "unnoticed small", "unnoticed large"].map { kind in
            "\(kind): of \(score[kind]) \(score["once, \(kind)"]) crashed once,"
                + " \(score["twice, \(kind)"]) twice"
        }.joined(separator: "; ") + "; \(score["repaired"]) repaired by the tool"
    }

    func miss(_ score: Score) -> String? {
        let kinds = ["unnoticed small", "unnoticed large"]
        let images = kinds.reduce(0) { $0 + score[$1] }
        let once = kinds.reduce(0) { $0 + score["once, \($1)"] }
        if once * 50 > images { return "\(once) of \(images) unnoticed ones crashed once" }
        return nil
    }

    // MARK: Tries

    private static func template(isLarge: Bool, in scratch: Scratch) throws -> Template {
        let crew = try Crew(scratch, budget: 8 << 20, options: ["--uncompressed", "yes"])
        let owners = isLarge ? 20 : 4
        var old = Data()
        for owner in 0..<owners {
            guard try crew.work(owner, .fill, seed: owner, operations: Progress.trees) == .exited(0)
            else { throw Mistake("the template can't be filled: \(crew.output(owner))") }
            old = Files.read(try Files.dataFile(in: crew.directory)) ?? Data()
            guard try crew.work(owner, .keep, seed: owner, operations: 30) == .exited(0) else {
                throw Mistake("the template can't be changed: \(crew.output(owner))")
            }
        }
        try IntactMark.check(crew.directory)
        let new = Files.read(try Files.dataFile(in: crew.directory)) ?? Data()
        guard (new.count > 2 << 20) == isLarge else {
            throw Mistake("the template has \(new.count) bytes")
        }
        return Template(crew: crew, owners: owners, old: old, new: new)
    }

    /// Uses an image, again after a crash, up to three times. Returns what is wrong.
    private static func play(
        _ seed: Int, _ isNoticed: Bool, _ template: Template, on crew: Crew, _ kind: String,
        _ score: inout Score, _ more: [String] = []
    ) throws -> String? {
        try crew.adopt(template.crew, owners: template.owners)
        let damage = try damage(crew, template, seed, isNoticed)
        var crashes = 0
        func use(_ more: [String]) throws -> (ending: Child.Ending, line: String) {
            for _ in 0..<3 {
                let result = try crew.check(
                    owners: template.owners, ["--may-miss", "yes", "--verify", "whole"] + more)
                guard result.ending.isCrash else { return result }
                crashes += 1
                if crashes <= 2 { score["\(crashes == 1 ? "once" : "twice"), \(kind)"] += 1 }
            }
            return (.killed(signal: 0), "it crashes for ever")
        }
        var result = try use(["--write", "yes", "--verify", "no"] + more)
        guard result.ending == .exited(0) else {
            return "\(damage): \(result.ending), \(result.line)"
        }
        for _ in 0..<2 {
            result = try use(more)
            if result.ending != .exited(Verdict.uncleanStatus) { break }
        }
        // A record whose version is damaged looks like one of a newer version, which has to stay.
        if result.ending == .exited(Verdict.uncleanStatus), !result.line.contains("unknownVersion")
        {
            score["repaired"] += 1
            _ = try Tool.run(
                ["doctor", crew.directory, "--repair"], output: crew.directory + ".tool")
            result = try use(more)
        }
        if crashes > 0, isNoticed { return "\(damage): it crashed" }
        if crashes > 1 { return "\(damage): it crashed \(crashes) times" }
        let isFine =
            result.ending == .exited(0) || result.line.contains("unknownVersion")
        return isFine ? nil : "\(damage): \(result.ending), \(result.line)"
    }

    // MARK: Damage

    /// Damages the file, in one of the ways of `DamagedImage`. Returns which.
    private static func damage(
        _ crew: Crew, _ template: Template, _ seed: Int, _ isNoticed: Bool
    ) throws -> String {
        var random = Random(seed: seed)
        var image = DamagedImage(new: template.new, old: template.old)
        let kinds = DamagedImage.Kind.allCases
        let kind = kinds[seed / 4 % kinds.count]
        image.apply(kind, &random)
        // A file of another size is always noticed.
        if !isNoticed { image.restoreSize(of: template.new) }
        let path = try Files.dataFile(in: crew.directory)
        try Files.write(Data(image.bytes), to: path)
        if !isNoticed { try IntactMark.put(on: path, in: crew.directory) }
        return "\(kind)"
    }

    func canaries(seed: Int, in scratch: Scratch) throws -> [(name: String, isCaught: Bool)] {
        let small = try Self.template(isLarge: false, in: scratch)
        defer { small.crew.remove() }
        func finding(_ seed: Int, _ more: [String]) throws -> String? {
            let crew = try Crew(scratch, budget: 8 << 20, options: ["--uncompressed", "yes"])
            defer { crew.remove() }
            crew.patience = 2
            var score = Score()
            return try Self.play(seed, true, small, on: crew, "canary", &score, more)
        }
        // Damage that empties the cache leaves no value that could be wrong.
        var isWrongNoticed = false
        for number in 0..<20 where !isWrongNoticed {
            let finding = try finding(seed + number * 4, ["--forge", "value"])
            isWrongNoticed = finding?.contains("wrong") == true
        }
        return [
            ("a child that returns wrong values", isWrongNoticed),
            (
                "a child that crashes",
                try finding(seed, ["--forge", "crash"])?.contains("crash") == true
            ),
            (
                "a child that hangs",
                try finding(seed, ["--forge", "hang"])?.contains("hang") == true
            ),
        ]
    }
}
