import Synchronization

/// When a change was made: a place in the order of all changes of this process.
///
/// A time made later is after every time made before, on whichever thread. It says nothing about
/// clocks.
///
/// ```swift
/// let earlier = ChangeTime()
/// let later = ChangeTime()
/// later.after(earlier)        // true
/// ```
public struct ChangeTime: Hashable, Comparable, Sendable {
    private static let latest = Atomic<Int>(0)

    private let ordinal: Int

    /// The time of this moment.
    public init() { ordinal = Self.latest.add(1, ordering: .relaxed).newValue }

    private init(ordinal: Int) { self.ordinal = ordinal }

    /// Before every other time: that of data nobody has set.
    public static let zero = ChangeTime(ordinal: 0)

    public func after(_ other: ChangeTime) -> Bool { ordinal > other.ordinal }

    public static func < (a: ChangeTime, b: ChangeTime) -> Bool { a.ordinal < b.ordinal }
}
