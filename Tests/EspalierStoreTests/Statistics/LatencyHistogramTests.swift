import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("A histogram of latencies is exact in count and maximum, and within a sixteenth in between")
struct LatencyHistogramTests {
    private static let boundaries: [UInt64] =
        (0..<64).flatMap { exponent in
            (-2...2).map { (UInt64(1) << exponent) &+ UInt64(bitPattern: $0) }
        } + [.max]

    @Test(
        "Buckets follow one another without gaps, each at most an eighth as wide as its durations")
    func buckets() {
        var next: UInt64 = 0
        for bucket in 0..<LatencyHistogram.bucketCount {
            let (start, width) = LatencyHistogram.extent(of: bucket)
            #expect(start == next)
            #expect(width == 1 || width * 8 <= start)
            #expect(LatencyHistogram.bucket(of: start) == bucket)
            #expect(LatencyHistogram.bucket(of: start + width - 1) == bucket)
            next = start + width
        }
        #expect(next == 1 << 43)
    }

    @Test("Every duration has a bucket, and the longest ones share the last", arguments: boundaries)
    func place(nanoseconds: UInt64) {
        let bucket = LatencyHistogram.bucket(of: nanoseconds)
        let (start, width) = LatencyHistogram.extent(of: bucket)
        #expect(start <= nanoseconds)
        #expect(nanoseconds - start < width || bucket == LatencyHistogram.bucketCount - 1)
        var histogram = LatencyHistogram()
        histogram.record(nanoseconds: nanoseconds)
        #expect(histogram.count == 1)
        #expect(histogram.maximum == .nanoseconds(Int64(clamping: nanoseconds)))
        #expect(histogram.quantile(0.5) == histogram.maximum)
    }

    @Test("Quantiles are those of the sorted durations, within a sixteenth")
    func quantiles() throws {
        var random = SeededGenerator(seed: 11)
        for size in [1, 2, 3, 10, 1_000] {
            var histogram = LatencyHistogram()
            let times = (0..<size).map { _ in
                UInt64.random(in: 0..<1 << 40, using: &random)
                    >> UInt64.random(in: 0..<40, using: &random)
            }
            for time in times { histogram.record(.nanoseconds(Int64(time))) }
            let sorted = times.sorted()
            #expect(histogram.count == size)
            #expect(histogram.maximum?.wholeNanoseconds == sorted.last)
            for quantile in stride(from: 0, through: 1, by: 0.01) {
                let rank = max(1, Int((Double(size) * quantile).rounded(.up)))
                let exact = Double(sorted[rank - 1])
                let found = Double(try #require(histogram.quantile(quantile)).wholeNanoseconds)
                #expect(abs(found - exact) <= exact / 16, "\(quantile) of \(size)")
            }
        }
    }

    @Test("An empty histogram has no quantile and no maximum")
    func empty() {
        let histogram = LatencyHistogram()
        #expect(histogram.isEmpty)
        #expect(histogram.count == 0)
        #expect(histogram.maximum == nil)
        #expect(histogram.quantile(0.5) == nil)
        #expect(LatencySummary(histogram) == LatencySummary())
        #expect("\(histogram)" == "nothing recorded")
    }

    private static let oddShares: [Double] = [-1, 2, .nan, .infinity, -.infinity]

    @Test(
        "A quantile outside of 0 to 1, or NaN, counts as the nearest valid one",
        arguments: oddShares
    )
    func oddQuantiles(share: Double) {
        var histogram = LatencyHistogram()
        for time in 1...10 { histogram.record(nanoseconds: UInt64(time)) }
        #expect(histogram.quantile(share) == .nanoseconds(share > 1 ? 10 : 1))
    }

    @Test("Negative durations count as zero, and no duration is too long")
    func oddTimes() {
        var histogram = LatencyHistogram()
        histogram.record(.seconds(-1))
        histogram.record(.nanoseconds(-1))
        #expect(histogram.maximum == .zero)
        histogram.record(.seconds(Int64.max))
        #expect(histogram.maximum == .nanoseconds(Int64.max))
        #expect(histogram.count == 3)
    }

    @Test("Merging histograms equals recording all durations in one, in any order")
    func merging() {
        var random = SeededGenerator(seed: 12)
        var (all, first, second) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
        for _ in 0..<500 {
            let time =
                UInt64.random(in: 0..<(1 << 40), using: &random)
                >> UInt64.random(in: 0..<40, using: &random)
            all.record(nanoseconds: time)
            if random.happens(0.5) {
                first.record(nanoseconds: time)
            } else {
                second.record(nanoseconds: time)
            }
        }
        var (forth, back) = (first, second)
        forth.merge(second)
        back.merge(first)
        #expect(forth == all)
        #expect(back == all)
        forth.merge(LatencyHistogram())
        #expect(forth == all)
    }

    @Test("The counts of a histogram stay at the largest number instead of wrapping around")
    func saturation() {
        var histogram = LatencyHistogram()
        histogram.add(.max, to: 3)
        histogram.add(.max, to: 5)
        histogram.merge(histogram)
        #expect(histogram.count == .max)
        #expect(histogram.quantile(0.5) != nil)
        #expect(histogram.quantile(1) != nil)
    }

    @Test("A separated copy of a histogram shares no memory with it and equals it")
    func separated() {
        var histogram = LatencyHistogram()
        histogram.record(nanoseconds: 7)
        let copy = histogram.separated()
        #expect(copy == histogram)
        histogram.record(nanoseconds: 8)
        #expect(copy.count == 1)
    }

    // MARK: - Stored form

    @Test("The stored form of a histogram restores it, in some hundred bytes")
    func form() throws {
        var random = SeededGenerator(seed: 13)
        #expect(LatencyHistogram().form.count == 3)
        for size in [0, 1, 2, 50, 20_000] {
            var histogram = LatencyHistogram()
            // The durations of reads: from some microseconds to some hundred milliseconds.
            for _ in 0..<size {
                histogram.record(
                    nanoseconds: UInt64.random(in: 1_000..<250_000_000, using: &random))
            }
            #expect(histogram.form.count <= 450)
            #expect(try LatencyHistogram(form: histogram.form) == histogram)
        }
    }

    @Test(
        "A histogram whose stored form would be too long joins buckets, and keeps count and maximum"
    )
    func coarse() throws {
        var histogram = LatencyHistogram()
        for bucket in 0..<LatencyHistogram.bucketCount {
            histogram.add(UInt64(bucket) + 1_000_000, to: bucket)
        }
        histogram.raise(longest: 1 << 50)
        #expect(histogram.form.count <= LatencyHistogram.longestForm)
        let back = try LatencyHistogram(form: histogram.form)
        #expect(back != histogram)
        #expect(back.count == histogram.count)
        #expect(back.maximum == histogram.maximum)
        let (median, exact) = (
            try #require(back.quantile(0.5)), try #require(histogram.quantile(0.5))
        )
        #expect(median > exact / 2 && median < exact * 2)
        // Encoding a joined histogram again does not change it.
        #expect(try LatencyHistogram(form: back.form) == back)
        for bucket in 0..<LatencyHistogram.bucketCount { histogram.add(.max, to: bucket) }
        histogram.raise(longest: .max)
        #expect(histogram.form.count <= LatencyHistogram.longestForm)
    }

    @Test("Decoding a damaged histogram throws or returns something, and never traps")
    func damage() throws {
        var histogram = LatencyHistogram()
        for time in stride(from: UInt64(1), to: 5_000_000, by: 777) {
            histogram.record(nanoseconds: time)
        }
        let form = histogram.form
        for count in form.indices {
            #expect(throws: FormatError.self) { try LatencyHistogram(form: Array(form[..<count])) }
        }
        for index in form.indices {
            for bit in 0..<8 {
                var damaged = form
                damaged[index] ^= 1 << bit
                if let histogram = try? LatencyHistogram(form: damaged) {
                    _ = LatencySummary(histogram)
                }
            }
        }
        let outOfRange: [[UInt8]] = [
            [4, 0, 0], [0, 0, 1, 0xC8, 0x02, 1], [3, 0, 1, 41, 1],
            [0, 0, 2, 1, 1] + [UInt8](repeating: 0xFF, count: 9) + [1, 1],
        ]
        for form in outOfRange {
            #expect(throws: FormatError.self) { try LatencyHistogram(form: form) }
        }
    }

    @Test("What was recorded since an earlier state, and after a reset")
    func difference() {
        var histogram = LatencyHistogram()
        for time in [10, 5_000_000] as [UInt64] { histogram.record(nanoseconds: time) }
        let earlier = histogram
        #expect(histogram.since(earlier).isEmpty)
        for time in [10, 300, 301] as [UInt64] { histogram.record(nanoseconds: time) }
        let since = histogram.since(earlier)
        #expect(since.count == 3)
        #expect(since.quantile(0.1) == .nanoseconds(10))
        // The longest of all is older.
        let maximum = since.maximum ?? .zero
        #expect(maximum >= .nanoseconds(301) && maximum < .nanoseconds(301 * 9 / 8))
        #expect(earlier.since(histogram) == earlier)
    }

    @Test("A histogram can be encoded and decoded, and decoding refuses invalid buckets")
    func coding() throws {
        var histogram = LatencyHistogram()
        for time in stride(from: UInt64(0), to: 9_000_000, by: 1_001) {
            histogram.record(nanoseconds: time)
        }
        let data = try JSONEncoder().encode(histogram)
        #expect(try JSONDecoder().decode(LatencyHistogram.self, from: data) == histogram)
        let odd = Data(#"{"maximum": 5, "buckets": {"4": 18446744073709551615, "5": 2}}"#.utf8)
        #expect(try JSONDecoder().decode(LatencyHistogram.self, from: odd).count == .max)
        let wrong = Data(#"{"maximum": 5, "buckets": {"-4": 1}}"#.utf8)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(LatencyHistogram.self, from: wrong)
        }
    }
}

extension LatencyHistogram {
    fileprivate var form: [UInt8] {
        var writer = ByteWriter()
        append(to: &writer)
        return writer.bytes
    }

    fileprivate init(form: [UInt8]) throws {
        self = try ByteReader.reading(form) { try LatencyHistogram(reading: &$0) }
    }
}
