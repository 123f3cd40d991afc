import ArgumentParser
import Espalier
import Foundation

/// Measures what keeps one truth: ingesting, observing, and following another process.
@main
struct FollowingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Following",
        abstract: "Measures ingesting, observing, and following another process.",
        subcommands: [
            Ingesting.self, Noticing.self, Listening.self, Observing.self, Serving.self,
            Everything.self, Peer.self,
        ],
        defaultSubcommand: Everything.self)
}

struct Everything: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all", abstract: "All that needs no document, one after the other.")

    func run() async throws {
        try await Noticing.parse([]).run()
        try await Listening.parse([]).run()
        try await Observing.parse([]).run()
        try await Serving.parse([]).run()
    }
}

/// A directory that is removed with its last reference.
final class Scratch: Sendable {
    let path =
        NSTemporaryDirectory() + "espalier-following-\(UInt64.random(in: .min ... .max))"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func open() throws -> NormalizedCache {
        try NormalizedCache(
            directory: path, configuration: Configuration(budget: .mebibytes(50)))
    }
}

/// Times of the same work, in the order of measuring.
struct Times {
    private var values: [Double] = []

    mutating func append(_ time: Duration) { values.append(time / .microseconds(1)) }

    /// Returns the time within which `share` of the times are, in microseconds.
    func within(_ share: Double) -> Double {
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
    }

    var median: Double { within(0.5) }
}

func print(_ title: String, microseconds: Double) {
    print("\(title): \(Int(microseconds.rounded())) us")
}
