import Foundation

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
