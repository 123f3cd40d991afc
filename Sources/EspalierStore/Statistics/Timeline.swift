import EspalierRecords
import Foundation

/// The seconds at which stamps were given out. Turns logical time into ages.
///
/// The time of a stamp between two samples is interpolated. A full timeline removes the sample
/// whose neighbours are closest to each other in relation to their age. So the distance between
/// samples grows with their age, and stays below a third of it. (Removing every second sample of
/// the older half instead left nothing from before the last two minutes but the first sample.)
///
///     timeline = count (varint), samples
///     sample   = stamp (varint), second (signed varint), each less that of the previous sample
package struct Timeline: Hashable, Sendable {
    /// A stamp and the seconds since 1970 at which it was given out.
    struct Sample: Hashable, Sendable {
        let stamp: UInt64
        var second: Int64
    }

    static let capacity = 64
    /// Accepted seconds: 30,000 years, far from an overflow in sums and differences.
    private static let seconds: ClosedRange<Int64> = -1 << 40...1 << 40

    /// Ascending in stamps and in seconds.
    private(set) var samples: [Sample] = []

    /// Adds a sample: `stamp` is the latest one at `second`. Keeps the first stamp of a second.
    ///
    /// If the clock was set back, moves the earlier samples back, too: ages are differences, which
    /// must not be negative.
    mutating func addSample(_ stamp: UInt64, at second: Int64) {
        guard Self.seconds.contains(second) else { return }
        guard let last = samples.last else {
            return samples.append(Sample(stamp: stamp, second: second))
        }
        guard stamp > last.stamp else { return }
        if second < last.second { shift(by: second - last.second) }
        guard second > last.second else { return }
        if samples.count == Self.capacity { thin(at: second) }
        samples.append(Sample(stamp: stamp, second: second))
    }

    /// The second of the last sample; nil if there is none.
    var lastSecond: Int64? { samples.last?.second }

    private mutating func shift(by difference: Int64) {
        for index in samples.indices { samples[index].second += difference }
        samples.removeAll { !Self.seconds.contains($0.second) }
    }

    private mutating func thin(at second: Int64) {
        func gap(without index: Int) -> Double {
            let before = samples[index - 1].second
            return Double(samples[index + 1].second - before) / Double(second - before)
        }
        if let index = (1..<samples.count - 1).min(by: { gap(without: $0) < gap(without: $1) }) {
            samples.remove(at: index)
        }
    }

    /// Adds the samples of another timeline that are later than these.
    mutating func merge(_ other: Timeline) {
        for sample in other.samples { addSample(sample.stamp, at: sample.second) }
    }

    /// Returns the seconds at which `stamp` was given out, limited to the first and the last
    /// sample; nil for a timeline without samples.
    func seconds(at stamp: UInt64) -> Int64? {
        guard let first = samples.first, let last = samples.last else { return nil }
        var (low, high) = (0, samples.count)
        while low < high {
            let middle = (low + high) / 2
            if samples[middle].stamp <= stamp { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return first.second }
        guard low < samples.count else { return last.second }
        let (before, after) = (samples[low - 1], samples[low])
        let share = Double(stamp - before.stamp) / Double(after.stamp - before.stamp)
        return before.second + Int64(Double(after.second - before.second) * share)
    }

    /// Returns how many seconds before `second` the stamp was given out; nil when that is not
    /// known, or for a record that was never accessed.
    package func age(of stamp: Stamp, at second: Int64) -> UInt64? {
        guard stamp > .never, Self.seconds.contains(second), let given = seconds(at: stamp.rawValue)
        else { return nil }
        return UInt64(max(0, second - given))
    }

    /// The current second of the clock that samples and ages use.
    package static var currentSecond: Int64 { second(of: Date()) }

    /// Returns the second of a date, within the accepted ones. A date that is no number counts as
    /// the first second.
    static func second(of date: Date) -> Int64 {
        let second = date.timeIntervalSince1970.rounded(.down)
        guard !second.isNaN else { return seconds.lowerBound }
        return Int64(min(max(second, Double(seconds.lowerBound)), Double(seconds.upperBound)))
    }

    // MARK: - Stored form

    func append(to writer: inout ByteWriter) {
        writer.append(varint: UInt64(samples.count))
        var before = Sample(stamp: 0, second: 0)
        for sample in samples {
            writer.append(varint: sample.stamp - before.stamp)
            writer.append(signedVarint: sample.second - before.second)
            before = sample
        }
    }

    init() {}

    init(reading reader: inout ByteReader) throws(FormatError) {
        let count = try reader.count(ofAtLeast: 2)
        guard count <= Self.capacity else { throw .malformed("a timeline of too many samples") }
        for _ in 0..<count {
            let before = samples.last ?? Sample(stamp: 0, second: 0)
            let (stamp, stampOverflows) = before.stamp.addingReportingOverflow(try reader.varint())
            let (second, secondOverflows) = before.second.addingReportingOverflow(
                try reader.signedVarint())
            let isLater = samples.isEmpty || stamp > before.stamp && second > before.second
            guard !stampOverflows, !secondOverflows, isLater, Self.seconds.contains(second) else {
                throw .malformed("a timeline that does not ascend")
            }
            samples.append(Sample(stamp: stamp, second: second))
        }
    }
}
