import EspalierStore
import Foundation

/// What was measured on: times of different surroundings are not to be compared.
struct BenchEnvironment: Sendable {
    var surroundings: Surroundings
    var processors = ProcessInfo.processInfo.activeProcessorCount
    var durability = FeedCache.durability
    var date = Date()

    #if DEBUG
    static let build = "debug"
    #else
    static let build = "release"
    #endif

    /// - Parameter path: where the caches are made.
    init(of path: String) { surroundings = Surroundings(of: path) }

    var json: JSONValue {
        let texts = [
            ("espalier", surroundings.tool), ("build", Self.build), ("system", surroundings.system),
            ("lmdb", surroundings.lmdb), ("zstd", surroundings.zstd),
            ("fileSystem", surroundings.disk?.mount?.type ?? "unknown"),
            ("durability", durability.rawValue),
            ("date", date.formatted(.iso8601)),
        ]
        return .object(
            texts.map { JSONMember(name: $0.0, value: .string($0.1)) }
                + [JSONMember(name: "processors", value: .number(JSONNumber(processors)))])
    }

    /// One line, for a person.
    var line: String {
        let parts = [
            "espalier \(surroundings.tool), \(Self.build)", surroundings.system,
            processors == 1 ? "1 processor" : "\(processors) processors",
            "LMDB \(surroundings.lmdb), zstd \(surroundings.zstd)",
            "durability .\(durability.rawValue)"
                + (surroundings.disk?.mount.map { " on \($0.type)" } ?? ""),
            date.formatted(.iso8601.year().month().day()),
        ]
        return parts.joined(separator: "; ")
    }
}
