import EspalierRecords
import Foundation

/// When stamps were given out: what turns logical time into an age in seconds.
///
/// A stamp in between is placed in proportion. When it is full, the sample goes whose neighbours
/// are nearest to each other for their age: so samples stand the further apart the further back
/// they are, by less than a third of their age. (Dropping every second sample of the older half
/// instead kept nothing of what was more than two minutes ago but the beginning.)
///
///     timeline = count (varint), samples
///     sample   = stamp (varint), second (signed varint), both less those of the sample before
struct Timeline: Hashable, Sendable {
    /// Seconds since 1970.
    struct Sample: Hashable, Sendable {
        let stamp: UInt64
        var second: Int64
    }

    static let capacity = 64
    /// Far from overflow whatever is added or taken away: 30,000 years.
    private static let seconds: ClosedRange<Int64> = -1 << 40...1 << 40

    /// Ascending in stamps and in seconds.
    private(set) var samples: [Sample] = []

    /// Notes that `stamp` is the latest one at `second`. Of many in a second the first is kept.
    ///
    /// When the clock was set back, what was before moves along: ages are differences, and must not
    /// come out negative.
    mutating func note(_ stamp: UInt64, at second: Int64) {
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

    /// Adds the samples of another one that come after these.
    mutating func merge(_ other: Timeline) {
        for sample in other.samples { note(sample.stamp, at: sample.second) }
    }

    /// When `stamp` was given out, as far as is known: no earlier than the first sample and no
    /// later than the last. Nil when nothing is known.
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

    /// How many seconds before `second` the stamp was given out; nil when that is not known, or for
    /// a record never accessed.
    func age(of stamp: Stamp, at second: Int64) -> UInt64? {
        guard stamp > .never, Self.seconds.contains(second), let given = seconds(at: stamp.rawValue)
        else { return nil }
        return UInt64(max(0, second - given))
    }

    /// What the clock says: what samples and ages are told by.
    static var currentSecond: Int64 { Int64(Date().timeIntervalSince1970) }

    // MARK: Form

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
