import EspalierRecords
public import Foundation
import Synchronization

/// The clock that tells a cache the date of a write.
///
/// An app uses ``system``, which is the default. A test uses a clock that it sets:
///
/// ```swift
/// let clock = ManualClock()  // in EspalierTesting
/// let cache = try NormalizedCache(inMemory: Configuration(clock: clock.wallClock))
/// cache.set(person)
/// clock.advance(by: .seconds(3_600))
/// let hit = cache.readOutcome(Person.self, "Person:1")  // its age is an hour
/// ```
///
/// Timeouts and latencies do not use this clock.
public struct WallClock: Sendable, Hashable {
    private let read: @Sendable () -> Date
    /// The object whose time the clock tells; nil for the system's clock.
    private let owner: ObjectIdentifier?

    /// The system's clock.
    public static let system = WallClock(read: { Date() }, owner: nil)

    /// Creates a clock that tells the time of an object.
    ///
    /// - Parameters:
    ///   - owner: The object. Clocks of the same object are equal. The clock keeps it.
    ///   - now: Returns the date. The cache calls it on several threads.
    public init<Owner: AnyObject & Sendable>(
        of owner: Owner, now: @escaping @Sendable (Owner) -> Date
    ) {
        self.init(read: { now(owner) }, owner: ObjectIdentifier(owner))
    }

    private init(read: @escaping @Sendable () -> Date, owner: ObjectIdentifier?) {
        self.read = read
        self.owner = owner
    }

    /// Returns a clock that is as equal to others as this one, and tells another time.
    func telling(_ read: @escaping @Sendable () -> Date) -> WallClock {
        WallClock(read: read, owner: owner)
    }

    /// The date that the clock tells now.
    public var now: Date { read() }

    /// Returns the time since a date; 0 for a date to come.
    func age(of date: Date) -> Duration {
        // A duration ends far behind every date of a clock that works.
        .seconds(min(max(0, now.timeIntervalSince(date)), 0x1p40))
    }

    public static func == (a: WallClock, b: WallClock) -> Bool { a.owner == b.owner }

    public func hash(into hasher: inout Hasher) { hasher.combine(owner) }
}

/// The time of a cache: that of a clock, but it never goes back.
///
///     clock        10:00  10:05   9:05   9:10            set back by an hour
///     cache        10:00  10:05  10:05  10:10            goes on as if that had not happened
///
/// So an expired record never becomes fresh again, and a record that is a minute old stays that. If
/// the clock is set forward, that looks like time that has passed: records expire early.
///
/// Each commit stores the time, and an opening cache goes on from there at the earliest. If the
/// clock was set back while the cache was closed, the time that it was closed does not count, and
/// records expire late. A clock that is then corrected while the cache is open looks like one that
/// is set forward.
///
/// All threads may use it.
final class SteadyClock: AgeClock {
    private let clock: WallClock

    private struct State {
        var last = -Double.infinity
        /// What the cache's time is ahead of the clock, in seconds.
        var lead = 0.0

        /// How far the clock may go back, in seconds, before that counts as being set back. Less
        /// is the order in which threads come that have read it at the same time: counting that
        /// would let the cache's time run ahead.
        private static let tolerance = 1.0

        /// Returns the cache's time, given that of the clock.
        mutating func time(_ now: Double) -> Double {
            // If the app's clock returns NaN, the time stands still.
            guard !now.isNaN else { return max(last, 0) + lead }
            if now >= last {
                last = now
            } else if last - now > Self.tolerance {
                lead += last - now
                last = now
            }
            return last + lead
        }
    }
    private let state = Mutex(State())
    private let hasBeenRaised = Atomic<Bool>(false)

    init(_ clock: WallClock) { self.clock = clock }

    var now: Date {
        let now = clock.now.timeIntervalSince1970
        return Date(timeIntervalSince1970: state.withLock { $0.time(now) })
    }

    var second: UInt64 { WriteTime(now).rawValue }

    /// Whether the time goes on from one that was stored.
    var isRaised: Bool { hasBeenRaised.load(ordering: .relaxed) }

    /// Lets the time go on from one that was stored, if that is later.
    func raise(to second: Int64) {
        let now = clock.now.timeIntervalSince1970
        // In one step: several reads may begin with it at the same time, and each would add the
        // difference.
        state.withLock { $0.lead += max(0, Double(second) - $0.time(now)) }
        hasBeenRaised.store(true, ordering: .relaxed)
    }

    var wallClock: WallClock { clock.telling { self.now } }
}

/// A moment of a clock that goes on while the process or the machine stands still.
///
/// `ContinuousClock` tells the same time. Its instants have 128 bits, and to take the nanoseconds
/// out of one costs a division: as much as the rest of a read from memory.
package struct Moment: Comparable, Sendable {
    /// The time since some moment before the process began.
    package let nanoseconds: UInt64

    package static var now: Moment {
        var time = timespec()
        #if canImport(Darwin)
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        #else
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return Moment(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    package static func < (a: Moment, b: Moment) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The nanoseconds since an earlier moment; 0 for a later one.
    package func nanoseconds(since earlier: Moment) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }
}
