import Feeds
import Foundation

/// How much memory a process takes that has read all feeds once: a process of its own for each contender.
struct ResidentMemory {
    let comparison: Comparison

    struct Result: Codable, Sendable {
        let contender: String
        /// Beyond what the process had before it opened the contender. Bytes of a mapped file are the system's: it takes them
        /// back when it needs them.
        let ownBytes, fileBytes: Int
    }

    func run() throws -> [Result] {
        comparison.announce("measuring memory")
        let scale = comparison.scale
        let set = FeedSet(feeds: scale.feeds, people: scale.people, posts: scale.posts)
        let scratch = try Scratch(in: comparison.directory)
        return try comparison.contestants.map { contestant in
            // The ceiling has nothing on the disk: its process writes it.
            if contestant.role != .ceiling {
                let stand = try Stand(contestant, in: scratch.path, durability: .process)
                for feed in set.feeds { try stand.contender.write(feed) }
                try stand.contender.close()
            }
            return try measureInProcess(contestant, scratch.path)
        }
    }

    private func measureInProcess(_ contestant: Contestant, _ directory: String) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "memory", "--contender", contestant.name, "--directory", directory, "--feeds", "\(comparison.scale.feeds)",
            "--people", "\(comparison.scale.people)", "--posts", "\(comparison.scale.posts)",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ComparisonError.system("the process that measures memory", process.terminationStatus)
        }
        return try JSONDecoder().decode(Result.self, from: data)
    }

    /// In a process of its own: what it takes to read every feed once.
    static func measureHere(_ contestant: Contestant, in directory: String, _ set: FeedSet) throws -> Result {
        // What a first read of anything takes, once and for all.
        let identifiers = set.feeds.map(\.id)
        let before = try Memory.now()
        let stand = try Stand(contestant, in: directory, durability: .process)
        if contestant.role == .ceiling { for feed in copies(set.feeds) { try stand.contender.write(feed) } }
        for id in identifiers {
            guard try stand.contender.read(id) != nil else {
                throw ComparisonError.missing("\(contestant.name): feed \(id)")
            }
        }
        let after = try Memory.now()
        try stand.contender.close()
        return Result(
            contender: contestant.name, ownBytes: max(0, after.own - before.own),
            fileBytes: max(0, after.file - before.file))
    }

    /// With strings of their own, as models have that were decoded.
    private static func copies(_ feeds: [Feed]) -> [Feed] {
        let encoder = JSONEncoder()
        let decoder = JSONDecoder()
        return feeds.compactMap { feed in try? decoder.decode(Feed.self, from: encoder.encode(feed)) }
    }
}

/// What a process has in memory, as Linux counts it.
struct Memory {
    /// Its own bytes, and those of files that it maps.
    let own, file: Int

    static func now() throws -> Memory {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        func bytes(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return (line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first).flatMap { Int($0) }
                .map { $0 * 1_024 } ?? 0
        }
        return Memory(own: bytes("RssAnon"), file: bytes("RssFile"))
    }
}
