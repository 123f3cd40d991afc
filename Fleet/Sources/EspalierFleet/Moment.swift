import EspalierSharedRecords
import EspalierStore

/// A moment of a clock that goes on while the process or the machine stands still, in nanoseconds.
struct Moment: Comparable, Hashable, Sendable {
    let nanoseconds: Int

    static var now: Moment { Moment(nanoseconds: NormalizedCache.monotonicTime) }

    static func < (a: Moment, b: Moment) -> Bool { a.nanoseconds < b.nanoseconds }

    static func + (moment: Moment, duration: Duration) -> Moment {
        let (sum, isOverflow) = moment.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Moment(nanoseconds: isOverflow ? .max : sum)
    }

    static func - (a: Moment, b: Moment) -> Duration { .nanoseconds(a.nanoseconds - b.nanoseconds) }
}

extension Duration {
    /// Whole nanoseconds. A duration of more than 292 years counts as 292 years.
    var nanoseconds: Int {
        let (seconds, attoseconds) = components
        let (whole, isOverflow) = Int(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOverflowOfSum) = whole.addingReportingOverflow(
            Int(attoseconds / 1_000_000_000))
        return isOverflow || isOverflowOfSum ? (seconds < 0 ? .min : .max) : sum
    }

    /// Whole milliseconds.
    var milliseconds: Int { nanoseconds / 1_000_000 }
}
