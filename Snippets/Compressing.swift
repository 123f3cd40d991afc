// Chooses how the cache compresses records.

import Espalier
import Foundation

struct Message: Codable, NormalizedModel {
    let id: Int
    let text: String
    var modelIdentifier: String? { "Message:\(id)" }
}

func example(in directory: String) async throws {
    // snippet.configuration
    // From 1, the fastest, to 12, the smallest; or .none.
    let configuration = Configuration(compression: .zstd(level: 9))
    let cache = try NormalizedCache(directory: directory, configuration: configuration)
    // snippet.end
    for id in 1...2_000 {
        cache.set(
            Message(id: id, text: "Message number \(id), which says about as much as messages do."))
    }
    try await cache.flush()
    let before = try cache.statistics().recordBytes

    // snippet.compact
    try await cache.compact().committed  // trains dictionaries, and compresses all records
    // snippet.end
    print(try cache.statistics().recordBytes <= before)  // true
    print(await cache.read(Message.self, "Message:7")?.id ?? 0)  // 7
    cache.close()
}

let directory = NSTemporaryDirectory() + "compressing-\(UUID().uuidString)"
defer { try? FileManager.default.removeItem(atPath: directory) }
try await example(in: directory)
