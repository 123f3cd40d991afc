import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("A timeline tells how old a stamp is")
struct TimelineTests {
    private func timeline(_ samples: [(stamp: UInt64, second: Int64)]) -> Timeline {
        var timeline = Timeline()
        for (stamp, second) in samples { timeline.addSample(stamp, at: second) }
        return timeline
    }

    @Test(
        """
        A timeline interpolates between two samples, limits to the first and last, and knows \
        nothing without samples
        """)
    func interpolation() {
        #expect(Timeline().seconds(at: 5) == nil)
        #expect(Timeline().age(of: Stamp(5), at: 10) == nil)
        let one = timeline([(10, 100)])
        for stamp: UInt64 in [0, 9, 10, 11, .max] { #expect(one.seconds(at: stamp) == 100) }
        let several = timeline([(10, 100), (20, 200), (40, 210)])
        let expected: [(UInt64, Int64)] = [
            (0, 100), (9, 100), (10, 100), (11, 110), (15, 150), (19, 190), (20, 200), (30, 205),
            (40, 210), (41, 210),
        ]
        for (stamp, second) in expected {
            #expect(several.seconds(at: stamp) == second, "\(stamp)")
        }
        #expect(several.age(of: Stamp(15), at: 250) == 100)
        #expect(several.age(of: Stamp(15), at: 0) == 0)
        #expect(several.age(of: .never, at: 250) == nil)
    }

    @Test("A timeline keeps the first sample of each second")
    func oncePerSecond() {
        let several = timeline([(1, 10), (2, 10), (3, 10), (4, 11), (4, 12), (3, 13), (5, 13)])
        #expect(several.samples.map(\.stamp) == [1, 4, 5])
        #expect(several.samples.map(\.second) == [10, 11, 13])
    }

    @Test("When the clock is set back, a timeline moves its earlier samples and ages stay")
    func clockSetBack() {
        var timeline = timeline([(10, 1_000), (20, 1_100)])
        timeline.addSample(30, at: 400)
        #expect(timeline.age(of: Stamp(10), at: 400) == 100)
        #expect(timeline.age(of: Stamp(20), at: 400) == 0)
        timeline.addSample(40, at: 450)
        #expect(timeline.age(of: Stamp(10), at: 450) == 150)
        #expect(timeline.age(of: Stamp(40), at: 450) == 0)
        #expect(timeline.samples.map(\.second) == [300, 400, 450])
    }

    @Test(
        "A timeline ignores seconds that are out of bounds",
        arguments: [Int64.min, .max, 1 << 41, -(1 << 41)])
    func bounds(second: Int64) {
        var timeline = timeline([(1, 100)])
        timeline.addSample(2, at: second)
        #expect(timeline.samples.count == 1)
        #expect(timeline.age(of: Stamp(1), at: second) == nil)
        timeline.addSample(3, at: -(1 << 40))
        timeline.addSample(4, at: 1 << 40)
        timeline.addSample(5, at: -(1 << 40))
        #expect(timeline.samples.allSatisfy { abs($0.second) <= 1 << 40 })
        #expect(timeline.seconds(at: 4) != nil)
    }

    @Test(
        """
        A timeline stays small and ascending, and tells ages within a third, however unevenly \
        stamps come
        """,
        arguments: 1...4)
    func bounded(seed: UInt64) {
        var random = SeededGenerator(quietly: seed)
        var timeline = Timeline()
        var truth: [(stamp: UInt64, second: Int64)] = []
        var (stamp, second): (UInt64, Int64) = (0, 1_700_000_000)
        for _ in 0..<20_000 {
            // Long stretches of one stamp a second and of a million: proportion alone would tell
            // nothing.
            stamp += (second >> 9) % 2 == 0 ? 1 : 1_000_000
            second += random.happens(0.001) ? 500 : Int64.random(in: 0...3, using: &random)
            timeline.addSample(stamp, at: second)
            truth.append((stamp, second))
            #expect(timeline.samples.count <= Timeline.capacity)
        }
        #expect(timeline.samples.first?.stamp == truth.first?.stamp)
        for (before, after) in zip(timeline.samples, timeline.samples.dropFirst()) {
            #expect(before.stamp < after.stamp && before.second < after.second)
        }
        for (stamp, given) in truth {
            let (age, told) = (
                Double(second - given), Double(timeline.age(of: Stamp(stamp), at: second) ?? 0)
            )
            #expect(abs(told - age) <= 500 + age / 3, "\(stamp)")
        }
    }

    @Test(
        """
        The distance of samples in a timeline is at most a third of their age, except for the \
        latest
        """)
    func spacing() {
        var timeline = Timeline()
        for second in 1...100_000 {
            timeline.addSample(UInt64(second), at: Int64(second))
            guard second.isMultiple(of: 997) else { continue }
            for (before, after) in zip(timeline.samples, timeline.samples.dropFirst()) {
                let age = Int64(second) - before.second
                #expect(after.second - before.second <= max(1, age / 3))
            }
        }
    }

    @Test("Merging timelines adds the samples that come after the existing ones")
    func merging() {
        var first = timeline([(1, 10), (5, 20)])
        first.merge(timeline([(3, 15), (7, 30)]))
        #expect(first == timeline([(1, 10), (5, 20), (7, 30)]))
        first.merge(Timeline())
        #expect(first.samples.count == 3)
        var empty = Timeline()
        empty.merge(first)
        #expect(empty == first)
    }

    @Test("The ages of an eviction are those of the youngest and the oldest victim")
    func victims() {
        let timeline = timeline([(10, 100), (20, 200)])
        var eviction = EvictionCounts()
        #expect(timeline.ages(of: eviction, at: 300) == nil)
        eviction.add(records: 2, bytes: 50, accessedAt: Stamp(12))
        eviction.addTree()
        eviction.add(records: 1, bytes: 5, accessedAt: Stamp(18), isGroup: true)
        eviction.addTree()
        eviction.add(records: 1, bytes: 5, accessedAt: .never)
        eviction.addTree()
        #expect(timeline.ages(of: eviction, at: 300) == 120...180)
        #expect(
            (eviction.trees, eviction.records, eviction.bytes, eviction.groups) == (3, 4, 60, 1))
    }

    // MARK: - Stored form

    @Test("The stored form of a timeline restores it, and is short")
    func form() throws {
        var timeline = Timeline()
        for step in 0..<500 {
            #expect(try Timeline(form: timeline.form) == timeline)
            timeline.addSample(UInt64(step) * 3_000, at: 1_700_000_000 + Int64(step))
        }
        #expect(timeline.form.count < 300)
        let odd = self.timeline([(0, -5), (.max - 1, 0), (.max, 1 << 40)])
        #expect(try Timeline(form: odd.form) == odd)
    }

    @Test("Decoding a damaged timeline throws or returns one that ascends, and never traps")
    func damage() throws {
        let form = timeline((1...40).map { (UInt64($0) * 1_000, 1_700_000_000 + Int64($0) * 7) })
            .form
        for count in form.indices {
            #expect(throws: FormatError.self) { try Timeline(form: Array(form[..<count])) }
        }
        for index in form.indices {
            for bit in 0..<8 {
                var damaged = form
                damaged[index] ^= 1 << bit
                guard let timeline = try? Timeline(form: damaged) else { continue }
                for stamp: UInt64 in [0, 1_500, 20_500, .max] {
                    _ = timeline.age(of: Stamp(stamp), at: 1_700_000_300)
                }
            }
        }
        let most = [UInt8](repeating: 0xFF, count: 9) + [1]
        let wrong: [[UInt8]] = [
            [65] + [UInt8](repeating: 2, count: 200), [2, 5, 2, 0, 2], [2, 5, 2, 1, 0],
            [2, 5, 2, 1, 1],
            [2] + most + [2] + [1, 2], [1, 1] + most, [2, 1, 2, 1] + most,
        ]
        for form in wrong { #expect(throws: FormatError.self) { try Timeline(form: form) } }
    }
}

extension Timeline {
    fileprivate var form: [UInt8] {
        var writer = ByteWriter()
        append(to: &writer)
        return writer.bytes
    }

    fileprivate init(form: [UInt8]) throws {
        self = try ByteReader.reading(form) { try Timeline(reading: &$0) }
    }
}
