import Espalier
import Foundation

/// What writing a feed costs: new, unchanged, and with one post changed, against JSONEncoder alone, in one process and
/// interleaved. Without synchronising, so that the disk is not what is measured.
@main
struct Writing {
    static let posts = 300
    static let rounds = 60

    static func main() throws {
        let path = NSTemporaryDirectory() + "espalier-writing-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let cache = try NormalizedCache(
            directory: path, configuration: Configuration(budget: .gibibytes(1), durability: .noSync))
        defer { cache.close() }
        var times: [String: [Double]] = [:]
        for round in 0..<rounds {
            let feed = Feed(id: round, posts: posts)
            let changed = Feed(id: round, posts: posts, edition: 1)
            times["JSONEncoder alone", default: []].append(try microseconds { _ = try JSONEncoder().encode(feed) })
            times["a new feed", default: []].append(try microseconds { try cache.set(feed).wait() })
            times["the same again", default: []].append(try microseconds { try cache.set(feed).wait() })
            times["one post changed", default: []].append(try microseconds { try cache.set(changed).wait() })
        }
        let statistics = try cache.statistics()
        print(
            "\(2 * posts + 1) nodes; \(statistics.recordsWritten) records written, \(statistics.recordsUnchanged) unchanged"
        )
        let base = median(times["JSONEncoder alone"] ?? [])
        for (name, values) in times.sorted(by: { median($0.value) < median($1.value) }) {
            let value = median(values)
            print(String(format: "%8.0f us  %5.2f  ", value, value / base) + name)
        }
    }

    private static func microseconds(_ body: () throws -> Void) rethrows -> Double {
        let time = try ContinuousClock().measure(body)
        return Double(time.components.attoseconds) / 1e12 + Double(time.components.seconds) * 1e6
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
