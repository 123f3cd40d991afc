import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("The counters of a cache's life are kept")
struct LifetimeCountersTests {
    private func read(_ bytes: [UInt8]) throws -> LifetimeCounters {
        try ByteReader.reading(bytes) { try LifetimeCounters(reading: &$0) }
    }

    /// Counters with a different value in every field.
    private func sample(_ seed: UInt64) -> LifetimeCounters {
        var random = SeededGenerator(quietly: seed)
        var counters = LifetimeCounters()
        counters.forEachSum(with: counters) { sum, _ in
            sum = .random(in: 1..<1 << 40, using: &random)
        }
        counters.longestEvictionNanoseconds = .random(in: 1..<1 << 30, using: &random)
        let youngest = UInt64.random(in: 0..<1_000, using: &random)
        counters.victimAges = youngest...youngest + .random(in: 0..<1_000_000, using: &random)
        for name in ["notFound", "deleted", "lost"] {
            counters.misses.add(.random(in: 1..<1_000, using: &random), to: name)
            counters.missesByType.add(
                .random(in: 1..<1_000, using: &random), to: name, of: "Person")
            counters.missesByType.add(
                .random(in: 1..<1_000, using: &random), to: name, of: "Type\(seed)")
        }
        counters.droppedWrites.add(.random(in: 1..<1_000, using: &random), to: "queueFull")
        counters.rejectedWrites.add(.random(in: 1..<1_000, using: &random), to: "closed")
        counters.generationsReplaced.add(.random(in: 1..<1_000, using: &random), to: "damaged")
        for _ in 0..<200 {
            counters.readLatency.record(nanoseconds: .random(in: 0..<1 << 24, using: &random))
            counters.commitLatency.record(nanoseconds: .random(in: 0..<1 << 30, using: &random))
        }
        counters.timeline.addSample(seed * 100, at: 1_700_000_000 + Int64(seed))
        counters.timeline.addSample(seed * 100 + 50, at: 1_700_000_000 + Int64(seed) * 2)
        return counters
    }

    /// Counters with the largest value of each part.
    private var fullest: LifetimeCounters {
        var counters = LifetimeCounters()
        counters.forEachSum(with: counters) { sum, _ in sum = .max }
        counters.longestEvictionNanoseconds = .max
        counters.victimAges = UInt64.max - 1...(.max)
        for number in 0..<100 {
            for part in [
                \LifetimeCounters.misses, \.droppedWrites, \.rejectedWrites, \.generationsReplaced,
            ] {
                counters[keyPath: part].add(
                    .max, to: "\(number)" + String(repeating: "x", count: 22))
            }
            for reason in ["notFound", "damaged"] {
                counters.missesByType.add(
                    .max, to: reason, of: "\(number)" + String(repeating: "x", count: 90))
            }
        }
        for bucket in 0..<LatencyHistogram.bucketCount {
            counters.readLatency.add(.max, to: bucket)
            counters.commitLatency.add(.max, to: bucket)
        }
        counters.readLatency.raise(longest: .max)
        counters.commitLatency.raise(longest: .max)
        for number in 0..<UInt64(Timeline.capacity) {
            counters.timeline.addSample(number << 58 + 1, at: -(1 << 40) + Int64(number) << 34)
        }
        return counters
    }

    @Test("Lifetime counters are decoded as they were encoded, empty, full and in between")
    func form() throws {
        for counters in [LifetimeCounters(), sample(1), sample(2)] {
            #expect(try read(counters.bytes) == counters)
        }
        #expect(LifetimeCounters().bytes.count < 60)
        let back = try read(fullest.bytes)
        #expect(back.misses == fullest.misses && back.rejectedWrites == fullest.rejectedWrites)
        #expect(back.timeline == fullest.timeline)
        #expect(back.timeline.samples.count == Timeline.capacity)
        #expect(back.hits == .max)
    }

    @Test("Lifetime counters fit their value in a page, whatever was counted")
    func size() {
        #expect(sample(3).bytes.count < 1_500)
        #expect(fullest.bytes.count > 2_500)
        #expect(fullest.bytes.count <= LifetimeCounters.longestForm)
        #expect(LifetimeCounters.longestForm <= 4_096 - 16)
    }

    @Test("Adding lifetime counters in parts or at once gives the same, and never overflows")
    func adding() {
        var (left, right) = (sample(1), sample(2))
        right += sample(3)
        left += right
        var other = sample(1)
        other += sample(2)
        other += sample(3)
        #expect(left == other)
        #expect(left.hits == sample(1).hits + sample(2).hits + sample(3).hits)
        let ages = [1, 2, 3].compactMap { sample($0).victimAges }
        #expect(left.victimAges?.lowerBound == ages.map(\.lowerBound).min())
        #expect(left.victimAges?.upperBound == ages.map(\.upperBound).max())
        #expect(
            left.longestEvictionNanoseconds
                == [1, 2, 3].map { sample($0).longestEvictionNanoseconds }.max())
        other += LifetimeCounters()
        #expect(left == other)
        other += fullest
        other += fullest
        #expect(other.hits == .max)
        #expect(other.bytes.count <= LifetimeCounters.longestForm)
    }

    @Test("Decoding lifetime counters finds every damaged byte")
    func damage() {
        for bytes in [LifetimeCounters().bytes, sample(4).bytes] {
            for count in bytes.indices {
                #expect(throws: FormatError.self) { try read(Array(bytes[..<count])) }
            }
            for index in bytes.indices {
                var damaged = bytes
                damaged[index] ^= 0x10
                #expect(throws: FormatError.checkFailed) { try read(damaged) }
            }
        }
    }

    @Test("Damaged lifetime counters with a matching check throw or decode, and never trap")
    func forged() {
        let bytes = sample(5).bytes.dropLast(8)
        for index in bytes.indices {
            for bit in 0..<8 {
                var writer = ByteWriter()
                writer.append(bytes)
                writer.overwrite(at: index, with: bytes[index] ^ 1 << bit)
                writer.append(integer: writer.check(seed: 0))
                if var counters = try? read(writer.bytes) {
                    counters += sample(6)
                    #expect(counters.bytes.count <= LifetimeCounters.longestForm)
                }
            }
        }
    }

    @Test("Missing fields and parts of lifetime counters are zero, and unknown ones are ignored")
    func versions() throws {
        var short = ByteWriter()
        short.append(varint: 2)
        short.append(varint: 7)
        short.append(varint: 8)
        short.append(varint: 1)
        short.append(varint: 1)
        short.append(varint: 0)
        short.append(integer: short.check(seed: 0))
        var expected = LifetimeCounters()
        expected.hits = 7
        expected.commits = 8
        #expect(try read(short.bytes) == expected)

        let fields = LifetimeCounters.sumCount + 3
        var long = ByteWriter()
        long.append(varint: UInt64(fields + 2))
        for field in 0..<fields + 2 { long.append(varint: UInt64(field)) }
        long.append(varint: 9)
        for part in 0..<9 {
            let form: [UInt8] =
                part == 8
                ? [1, 2, 3]
                : part == 6 ? [0, 0, 9] : part == 3 || part == 4 ? [0, 0, 0, 9, 9] : [0, 9]
            long.append(varint: UInt64(form.count))
            long.append(form)
        }
        long.append(integer: long.check(seed: 0))
        let counters = try read(long.bytes)
        #expect(counters.commits == 1)
        #expect(counters.longestEvictionNanoseconds == UInt64(fields - 3))
        #expect(counters.victimAges == UInt64(fields - 3)...UInt64(fields - 2))
        #expect(counters.readLatency.isEmpty)
    }

    @Test("Lifetime counters count evictions under their reason")
    func evictions() {
        var eviction = EvictionCounts()
        eviction.add(records: 3, bytes: 300, accessedAt: Stamp(5), isGroup: true)
        eviction.addTree()
        eviction.spent = .microseconds(20)
        var counters = LifetimeCounters()
        counters.add(eviction, for: .budget, ages: 5...9)
        counters.add(eviction, for: .shrink, ages: nil)
        eviction.spent = .microseconds(30)
        counters.add(eviction, for: .explicit, ages: 2...3)
        #expect(counters.evicted == .init(trees: 2, records: 6, bytes: 600))
        #expect(counters.explicitlyEvicted == .init(trees: 1, records: 3, bytes: 300))
        #expect(counters.evictedGroups == 3)
        #expect(counters.evictionRuns == 3)
        #expect(counters.evictionNanoseconds == 70_000)
        #expect(counters.longestEvictionNanoseconds == 30_000)
        #expect(counters.victimAges == 2...9)
    }

    @Test("A new generation keeps all lifetime counters except the timeline of stamps")
    func newGeneration() {
        let counters = sample(8).inNewGeneration
        #expect(counters.timeline == Timeline())
        #expect(counters.hits == sample(8).hits)
        #expect(counters.misses == sample(8).misses)
    }
}

@Suite("Reasons are counted by name, as many as there is room for")
struct ReasonCountsTests {
    @Test("Names that come too late or are too long are counted under `other`")
    func bounds() {
        var counts = ReasonCounts(limit: 4)
        for name in ["a", "b", "c", "d", "e", "a"] { counts.add(to: name) }
        counts.add(to: String(repeating: "x", count: 25))
        #expect(counts.counts == ["a": 2, "b": 1, "c": 1, "other": 3])
        #expect(counts.total == 7)
        var early = ReasonCounts(limit: 4)
        early.add(5, to: "other")
        for name in ["a", "b", "c", "d"] { early.add(to: name) }
        #expect(early.counts == ["other": 6, "a": 1, "b": 1, "c": 1])
        early.merge(counts)
        #expect(early.counts == ["other": 9, "a": 3, "b": 2, "c": 2])
        early.add(.max, to: "a")
        #expect(early.counts["a"] == .max)
    }

    @Test(
        """
        Names of any kind are decoded as they were encoded, and those beyond the limit are counted \
        under `other`
        """)
    func form() throws {
        var counts = ReasonCounts(limit: 8)
        for name in ["", "é", "notFound", "\u{0}"] { counts.add(.max, to: name) }
        var writer = ByteWriter()
        counts.append(to: &writer)
        let back = try ByteReader.reading(writer.bytes) { try ReasonCounts(limit: 8, reading: &$0) }
        #expect(back == counts)
        let less = try ByteReader.reading(writer.bytes) { try ReasonCounts(limit: 2, reading: &$0) }
        #expect(less.counts.count == 2)
        #expect(less.counts["other"] == .max)
        let notText: [UInt8] = [1, 1, 0xFF, 1]
        #expect(throws: FormatError.self) {
            try ByteReader.reading(notText) { try ReasonCounts(limit: 8, reading: &$0) }
        }
    }
}
