public import Foundation

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
