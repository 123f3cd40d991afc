import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Closing a cache from a model's encoder")
struct CloseInsideTests {
    /// A model whose encoder closes the cache.
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

    @Test("Closing from a model's encoder returns at once, and the write is committed")
    func insideEncoder() throws {
        try withCache { cache in
            let other = try NormalizedCache(
                directory: cache.engine.directory.path, configuration: .forTests)
            try cache.set(Closing(other)).wait()
            #expect(other.isClosed)
            #expect(try cache.statistics().nodes == 1)
        }
    }

    @Test(
        """
        Closing from a model's encoder by the last user returns at once, and the write is \
        committed
        """)
    func insideLastEncoder() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        let ticket = cache.set(Closing(cache))
        try ticket.wait()
        #expect(cache.isClosed)
    }
}
