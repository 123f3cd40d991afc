import EspalierRecords
import Foundation
import Synchronization

/// The time of a cache: that of a clock, but it never goes back.
///
///     clock        10:00  10:05   9:05   9:10            set back by an hour
///     cache        10:00  10:05  10:05  10:10            goes on as if that had not happened
///
/// So an expired record never becomes fresh again, and a record that is a minute old stays that. If
/// the clock is set forward, nobody can tell that from time that has passed: records expire early.
///
/// Each commit stores the time, and an opening cache begins no earlier. If the clock was set back,
/// the time then stands still until the clock has caught up: records expire late, and never early.
///
/// All threads may use it.
final class SteadyClock: AgeClock {
    private let clock: WallClock

    private struct State {
        var last = -Double.infinity
        /// What the cache's time is ahead of the clock, in seconds.
        var lead = 0.0
    }
    private let state = Mutex(State())
    private let hasBeenRaised = Atomic<Bool>(false)

    init(_ clock: WallClock) { self.clock = clock }

    var now: Date {
        let now = clock.now.timeIntervalSince1970
        let time = state.withLock { state in
            if now < state.last { state.lead += state.last - now }
            state.last = now
            return now + state.lead
        }
        return Date(timeIntervalSince1970: time)
    }

    var second: UInt64 { WriteTime(now).rawValue }

    /// Whether the time goes on from one that was stored.
    var isRaised: Bool { hasBeenRaised.load(ordering: .relaxed) }

    /// Lets the time go on from one that was stored, if that is later.
    func raise(to second: Int64) {
        let now = now.timeIntervalSince1970
        state.withLock { $0.lead += max(0, Double(second) - now) }
        hasBeenRaised.store(true, ordering: .relaxed)
    }

    var wallClock: WallClock { clock.telling { self.now } }
}
