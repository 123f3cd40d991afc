import Synchronization

/// The position of a change in the order of all changes of this process.
///
/// Each new time is later than all times created before it, on any thread. It is a counter and says
/// nothing about clocks.
///
/// ```swift
/// let earlier = ChangeTime()
/// let later = ChangeTime()
/// later.after(earlier)        // true
/// ```
public struct ChangeTime: Hashable, Comparable, Sendable {
    private static let latest = Atomic<Int>(0)

    private let ordinal: Int

    /// Creates a time that is later than all others so far. May be called on any thread.
    public init() { ordinal = Self.latest.add(1, ordering: .relaxed).newValue }

    private init(ordinal: Int) { self.ordinal = ordinal }

    /// The time before all others: the time of data that was never set.
    public static let zero = ChangeTime(ordinal: 0)

    /// Returns whether this time is later than `other`.
    public func after(_ other: ChangeTime) -> Bool { ordinal > other.ordinal }

    /// Returns whether `a` is earlier than `b`.
    public static func < (a: ChangeTime, b: ChangeTime) -> Bool { a.ordinal < b.ordinal }
}
