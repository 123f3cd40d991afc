import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Closing where it can't wait")
struct CloseInsideTests {
    /// Closes the cache while it is being encoded.
    struct Closing: NormalizedModel {
        let cache: NormalizedCache
        var modelIdentifier: String? { "closing" }

        init(_ cache: NormalizedCache) { self.cache = cache }
        init(from decoder: inout RecordDecoder) throws { throw Missing() }

        func encode(to encoder: inout RecordEncoder) throws {
            cache.close()
            try encoder.encode(1, forKey: "number")
        }
    }

    @Test("from a model's encoder it returns, and the write goes through")
    func insideEncoder() throws {
        try withCache { cache in
            let other = try NormalizedCache(
                directory: cache.engine.directory.path, configuration: .forTests)
            try cache.set(Closing(other)).wait()
            #expect(other.isClosed)
            #expect(try cache.statistics().nodes == 1)
        }
    }

    @Test("from the last user's model's encoder, too")
    func insideLastEncoder() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        let ticket = cache.set(Closing(cache))
        try ticket.wait()
        #expect(cache.isClosed)
    }
}
