import Feeds
import Foundation

/// Measures the memory of a process that has read all feeds once: each contender has a process of
/// its own.
struct ResidentMemory {
    let contest: Contest

    struct Result: Codable, Sendable {
        let contender: ContenderID
        /// Bytes beyond those that the process had before it opened the contender. Bytes of a
        /// mapped file belong to the system, which takes them back when it needs them.
        let ownBytes, fileBytes: Int
    }

    func run() throws -> [Result] {
        contest.announce("measuring memory")
        let set = contest.scale.feedSet
        let scratch = try Scratch(in: contest.directory)
        return try contest.contestants.map { contestant in
            // The ceiling has nothing on disk: its process reads the files of another contender.
            if contestant.role != .ceiling {
                let stand = try Stand(contestant, in: scratch.path, durability: .process)
                try stand.fill(set.feeds)
                try stand.contender.close()
            }
            return try measureInProcess(contestant, scratch.path, set.feeds.map(\.id))
        }
    }

    private func measureInProcess(
        _ contestant: Contestant, _ directory: String, _ identifiers: [String]
    ) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "memory", "--contender", contestant.id.rawValue, "--directory", directory,
        ]
        let input = Pipe()
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        input.fileHandleForWriting.write(Data(identifiers.joined(separator: "\n").utf8))
        try input.fileHandleForWriting.close()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ComparisonError.system(
                "the process that measures memory", process.terminationStatus)
        }
        return try JSONDecoder().decode(Result.self, from: data)
    }

    /// Measures in this process, which has done nothing else, the memory that it takes to read
    /// every feed once.
    static func measureHere(
        _ contestant: Contestant, in directory: String, feeds identifiers: [String]
    ) throws
        -> Result
    {
        let before = try Memory.now()
        // The ceiling is the memory of the models alone; memory that reading them takes besides
        // counts too.
        let isCeiling = contestant.role == .ceiling
        let stand = try Stand(isCeiling ? .engine : contestant, in: directory, durability: .process)
        var held: [Feed] = []
        for id in identifiers {
            guard let read = try stand.contender.read(id) else {
                throw ComparisonError.missing("\(contestant.name): feed \(id)")
            }
            if isCeiling { held.append(read.plain()) }
        }
        if isCeiling { try stand.contender.close() }
        let after = try Memory.now()
        return withExtendedLifetime((stand, held)) {
            Result(
                contender: contestant.id, ownBytes: max(0, after.own - before.own),
                fileBytes: max(0, after.file - before.file))
        }
    }
}

/// The memory of a process, as Linux counts it.
struct Memory {
    /// The process's own bytes, and those of files that it maps.
    let own, file: Int

    static func now() throws -> Memory {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        func bytes(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return (line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first)
                .flatMap { Int($0) }
                .map { $0 * 1_024 } ?? 0
        }
        return Memory(own: bytes("RssAnon"), file: bytes("RssFile"))
    }
}
