import EspalierSharedRecords
import EspalierStore

/// A moment of a clock that goes on while the process or the machine stands still, in nanoseconds.
struct Moment: Comparable, Hashable, Sendable {
    let nanoseconds: Int

    static var now: Moment { Moment(nanoseconds: NormalizedCache.monotonicTime) }

    static func < (a: Moment, b: Moment) -> Bool { a.nanoseconds < b.nanoseconds }

    static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(nanoseconds: moment.nanoseconds + duration.nanoseconds)
    }

    static func - (a: Moment, b: Moment) -> Duration { .nanoseconds(a.nanoseconds - b.nanoseconds) }
}

extension Duration {
    /// Whole nanoseconds.
    var nanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }

    /// Whole milliseconds.
    var milliseconds: Int { nanoseconds / 1_000_000 }
}
