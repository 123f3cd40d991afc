import ArgumentParser
import Espalier
import Foundation

/// Measures what a listening process costs the commits of another one.
struct Listening: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listening",
        abstract: "Small commits with and without another process that listens.")

    @Option(help: "The commits of each turn.") var commits = 1_000
    @Option(help: "The turns with, and as many without.") var turns = 10

    func run() async throws {
        let scratch = Scratch()
        let cache = try scratch.open()
        var (alone, heard) = (Times(), Times())
        let idle = try Peer.Running([scratch.path])
        for turn in 0..<turns {
            try measure(cache, turn * 2, &alone)
            let listener = try Peer.Running([scratch.path, "--listens"])
            try measure(cache, turn * 2 + 1, &heard)
            try listener.end()
        }
        try idle.end()
        print("\(turns) turns of \(commits) commits of one record, each waited for")
        print("  another process is open, median", microseconds: alone.median)
        print("  another process listens, median", microseconds: heard.median)
        print("  difference: \(((heard.median - alone.median) * 10).rounded() / 10) us")
        cache.close()
    }

    private func measure(_ cache: NormalizedCache, _ turn: Int, _ times: inout Times) throws {
        let clock = ContinuousClock()
        for number in 0..<commits {
            let person = Person(id: number % 50, name: "\(turn).\(number)", time: 0)
            times.append(try clock.measure { try cache.set(person).wait() })
        }
    }
}
