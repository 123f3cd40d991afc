import EspalierLMDB
import EspalierModels
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("The examples of docs/FORMAT.md")
struct FormatExamplesTests {
    struct Person: Codable, NormalizedModel {
        let id: String
        let name: String
        var modelIdentifier: String? { "Person:\(id)" }
    }

    struct Note: Codable, NormalizedModel {
        let id: String
        let author: Person
        var modelIdentifier: String? { "Note:\(id)" }
    }

    /// A clock that tells the date of the examples.
    private final class ExampleClock: Sendable {
        let date = WriteTime(256 * 86_400).date
    }

    @Test("The example of every keyspace in docs/FORMAT.md is what a cache stores")
    func examples() throws {
        let document = try document()
        var configuration = Configuration.forTests
        configuration.clock = WallClock(of: ExampleClock()) { $0.date }
        try withCache(configuration) { cache in
            try cache.set(Note(id: "9", author: Person(id: "1", name: "Ada"))).wait()
            try cache.readStorage { transaction, keyspaces in
                for keyspace in [
                    keyspaces.index, keyspaces.nodes, keyspaces.state, keyspaces.recency,
                    keyspaces.shapes,
                ] {
                    try transaction.forEach(in: keyspace) { key, value in
                        expect(keyspace.name, hex(key), hex(value), in: document)
                        return true
                    }
                }
                let counters = try transaction.value(keyspaces.info, Counters.key)
                expect("info", "counters", counters.map(hex) ?? "", in: document)
            }
        }
    }

    @Test("The examples of pins and of record states in docs/FORMAT.md are what a cache stores")
    func states() throws {
        let document = try document()
        try withCache { cache in
            try cache.set(Note(id: "9", author: Person(id: "1", name: "Ada"))).wait()
            try cache.pin("Note:9").wait()
            try cache.readStorage { transaction, keyspaces in
                try transaction.forEach(in: keyspaces.pins) { key, value in
                    expect(keyspaces.pins.name, hex(key), hex(value), in: document)
                    return true
                }
            }
            #expect(try cache.statistics().pins == 1)
        }
        var group = StateGroup(Handle(133))
        var pendingRemoval = StateEntry(
            referenceCount: 0, stamp: Stamp(1_000), flags: .pendingRemoval)
        pendingRemoval.released = 64
        group.set(pendingRemoval, of: Handle(133))
        let blocked = StateEntry(referenceCount: 2, stamp: Stamp(7), flags: [.onCycle, .blocked])
        group.set(blocked, of: Handle(134))
        expect("state", "state", hex(group.bytes), in: document)
    }

    @Test("The example of statistics in docs/FORMAT.md is what a cache stores")
    func statistics() throws {
        var counters = LifetimeCounters()
        counters.hits = 3
        counters.commits = 2
        counters.misses.add(to: "notFound")
        for nanoseconds: UInt64 in [20, 1_000, 1_000] {
            counters.readLatency.record(nanoseconds: nanoseconds)
        }
        counters.timeline.addSample(1, at: 1_700_000_000)
        expect("info", "statistics", hex(counters.bytes), in: try document())
    }

    @Test("The example of a change set in docs/FORMAT.md is what a cache stores")
    func changes() throws {
        var changes = ChangeSet(commit: 2)
        changes.written = ["Note:9", "Person:1"]
        changes.keys = ["pinned"]
        let author = ChangeAuthor(process: 300, instance: 0x0123_4567_89AB_CDEF)
        let chunks = StoredChanges(changes, by: author).chunks(limit: 4_000)
        #expect(chunks.count == 1)
        expect(
            "changes", "00 00 00 00 00 00 00 02 00 00 00 00", chunks.map(hex).joined(),
            in: try document())
    }

    @Test("The buckets of a histogram begin where docs/FORMAT.md says")
    func buckets() {
        #expect(LatencyHistogram.bucketCount == 328)
        for bucket in 0..<LatencyHistogram.bucketCount {
            let (doubling, eighth) = (bucket - 16).quotientAndRemainder(dividingBy: 8)
            let start = bucket < 16 ? bucket : (8 + eighth) << (doubling + 1)
            #expect(LatencyHistogram.extent(of: bucket).start == UInt64(start))
        }
    }

    private func expect(_ keyspace: String, _ key: String, _ value: String, in document: String) {
        let key = squeezed(key)
        let value = squeezed(value)
        #expect(document.contains(key), "\(keyspace): the key \(key) is not in the document")
        #expect(
            value.isEmpty || document.contains(value),
            "\(keyspace): the value \(value) is not in the document")
    }

    private func document() throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent(
                "../../../docs/FORMAT.md")
        // The explanation of a byte follows three spaces, so the text before them is bytes.
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            line in
            line.prefix(upTo: line.firstRange(of: "   ")?.lowerBound ?? line.endIndex)
        }
        return squeezed(lines.joined())
    }

    private func squeezed(_ text: String) -> String {
        text.filter { !$0.isWhitespace && $0 != "|" && $0 != "`" }
    }

    private func hex(_ span: RawSpan) -> String {
        hex(ByteReader.reading(span) { reader in (try? reader.bytes(count: reader.end)) ?? [] })
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(format: "%02X", $0) }.joined(separator: " ")
    }
}
