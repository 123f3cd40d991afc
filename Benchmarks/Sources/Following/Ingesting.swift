import ArgumentParser
import Espalier
import Foundation

/// Measures ingesting a document whose models the cache has, beside decoding it.
struct Ingesting: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingesting",
        abstract: "cache.ingest of statuses over a warm cache, beside JSONDecoder alone.")

    @Argument(help: "A document with an array of statuses, or an object that has one.")
    var document: String
    @Option(help: "How often to do both.") var rounds = 200

    func run() async throws {
        let data = try statuses()
        let scratch = Scratch()
        let cache = try scratch.open()
        defer { cache.close() }
        let decoder = JSONDecoder()
        let first = try await cache.ingest(data, as: [Status].self)
        var (decoding, ingesting, changing) = (Times(), Times(), Times())
        let clock = ContinuousClock()
        for round in 0..<rounds {
            decoding.append(
                try clock.measure { _ = try decoder.decode([Status].self, from: data) })
            let start = clock.now
            let models = try await cache.ingest(data, as: [Status].self)
            ingesting.append(clock.now - start)
            precondition(models.count == first.count)
            // Every status has another text: each of its records is written.
            let changed = Data(
                String(decoding: data, as: UTF8.self).replacing(
                    "\"retweet_count\":", with: "\"retweet_count\":\(round % 9 + 1)"
                ).utf8)
            let begin = clock.now
            _ = try await cache.ingest(changed, as: [Status].self)
            changing.append(clock.now - begin)
        }
        print("\(first.count) statuses, \(data.count) bytes, \(rounds) rounds, medians")
        print("  JSONDecoder", microseconds: decoding.median)
        print("  ingest, nothing new", microseconds: ingesting.median)
        print("  ingest, each status changed", microseconds: changing.median)
        let ratios = [ingesting, changing].map {
            ($0.median / decoding.median * 100).rounded() / 100
        }
        print("  times JSONDecoder: \(ratios[0]) and \(ratios[1])")
    }

    /// The bytes of the array of statuses.
    private func statuses() throws -> Data {
        let data = try Data(contentsOf: URL(fileURLWithPath: document))
        let json = try JSONSerialization.jsonObject(with: data)
        guard let object = json as? [String: Any], let statuses = object["statuses"] else {
            return data
        }
        return try JSONSerialization.data(withJSONObject: statuses)
    }
}
