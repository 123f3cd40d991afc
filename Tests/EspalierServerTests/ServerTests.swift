#if Server
import EspalierModels
import EspalierRecords
import EspalierServer
import EspalierStore
import Logging
import Metrics
import MetricsTestKit
import Synchronization
import Testing

private struct Person: Codable, NormalizedModel {
    let id: Int
    let text: String
    var modelIdentifier: String? { "Person:\(id)" }
}

/// Keeps the messages that it gets.
private struct Recorder: LogHandler {
    final class Messages: Sendable {
        private let list = Mutex<[String]>([])
        var all: [String] { list.withLock { $0 } }
        func add(_ text: String) { list.withLock { $0.append(text) } }
    }

    let messages: Messages
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let more = (event.metadata ?? [:]).sorted { $0.key < $1.key }
            .map { " \($0.key)=\($0.value)" }
        messages.add("\(event.level): \(event.message)\(more.joined())")
    }
}

@Suite("Logs and metrics of a server")
struct ServerTests {
    private static func logger() -> (Logger, Recorder.Messages) {
        let messages = Recorder.Messages()
        return (Logger(label: "cache") { _ in Recorder(messages: messages) }, messages)
    }

    /// Waits until a message satisfies a condition.
    private static func message(
        in messages: Recorder.Messages, _ condition: (String) -> Bool
    ) async throws -> String? {
        for _ in 0..<6_000 {
            if let found = messages.all.first(where: condition) { return found }
            try await Task.sleep(for: .milliseconds(10))
        }
        return nil
    }

    @Test("Evictions and replaced contents are logged, without identifiers")
    func events() async throws {
        let cache = try NormalizedCache(inMemory: Configuration(budget: .mebibytes(1)))
        defer { cache.close() }
        let (logger, messages) = Self.logger()
        cache.log(to: logger)
        for id in 0..<400 {
            // Text that no compression makes shorter.
            let text = (0..<200).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }
            try await cache.set(Person(id: id, text: text.joined())).committed
        }
        try await cache.removeAll().committed
        let evicted = try await Self.message(in: messages) { $0.hasPrefix("debug: evicted") }
        #expect(evicted?.contains("reason=budget records=1") == true)
        let replaced = try await Self.message(in: messages) { $0.hasPrefix("notice:") }
        #expect(replaced == "notice: the contents of the cache were replaced reason=emptied")
        #expect(!messages.all.contains { $0.contains("Person") })
    }

    @Test("A cancelled logging gets no more messages, and a logging does not keep a cache open")
    func cancelled() async throws {
        let (logger, messages) = Self.logger()
        let cache = try NormalizedCache(inMemory: Configuration())
        cache.log(to: logger).cancel()
        let (other, both) = Self.logger()
        cache.log(to: other)
        try await cache.removeAll().committed
        _ = try await Self.message(in: both) { $0.hasPrefix("notice:") }
        #expect(messages.all.isEmpty)
        weak var object: NormalizedCache?
        do {
            let another = try NormalizedCache(inMemory: Configuration())
            another.log(to: other)
            object = another
        }
        #expect(object == nil)
    }

    @Test("Gauges have the latest value, and counters what happened since the first report")
    func metrics() async throws {
        let cache = try NormalizedCache(inMemory: Configuration())
        defer { cache.close() }
        let test = TestMetrics()
        let metrics = CacheMetrics(cache, dimensions: [("cache", "feeds")], factory: test)
        try await cache.set(Person(id: 1, text: "a")).committed
        _ = await cache.read(Person.self, "Person:1")
        try metrics.report()
        let dimensions = [("cache", "feeds")]
        #expect(try test.expectGauge("espalier_records", dimensions).lastValue == 1)
        let hits = try test.expectCounter("espalier_hits_total", dimensions)
        #expect(hits.totalValue == 0)

        for _ in 0..<3 { _ = await cache.read(Person.self, "Person:1") }
        _ = await cache.read(Person.self, "Person:2")
        try await cache.set(Person(id: 2, text: "b")).committed
        try metrics.report()
        try metrics.report()
        #expect(hits.totalValue == 3)
        #expect(try test.expectGauge("espalier_records", dimensions).lastValue == 2)
        let misses = try test.expectCounter(
            "espalier_misses_total", dimensions + [("reason", "notFound")])
        #expect(misses.totalValue == 1)
    }

    @Test("Reports go on until their task is cancelled, and end when the cache is closed")
    func run() async throws {
        let cache = try NormalizedCache(inMemory: Configuration())
        let test = TestMetrics()
        let metrics = CacheMetrics(cache, factory: test)
        let task = Task { try await metrics.run(every: .milliseconds(1)) }
        for _ in 0..<6_000 where (try? test.expectGauge("espalier_records").values.count) ?? 0 < 3 {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try test.expectGauge("espalier_records").values.count >= 3)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        cache.close()
        #expect(throws: CacheError.self) { try metrics.report() }
    }
}
#endif
