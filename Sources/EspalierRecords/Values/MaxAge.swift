/// Ages of records, in whole seconds.
package enum MaxAge {
    /// Returns an age in seconds, rounded up. A negative age counts as 0, so that a record expires
    /// at once.
    package static func seconds(_ duration: Duration) -> UInt64 {
        let (seconds, rest) = duration.components
        guard seconds >= 0, rest >= 0 else { return 0 }
        return min(UInt64(seconds) + (rest > 0 ? 1 : 0), 1 << 40)
    }
}

/// When a record was written, and how old it may be: both in seconds, dates by the count of the
/// cache.
package struct RecordTimes {
    package let writtenAt: UInt64?
    /// Nil if no maximum age was known when the record was written.
    package let maxAge: UInt64?
    /// Records to which the same applies: those of one write follow each other.
    package let handles: ClosedRange<Handle>

    package init(writtenAt: UInt64?, maxAge: UInt64?, of handles: ClosedRange<Handle>) {
        self.writtenAt = writtenAt
        self.maxAge = maxAge
        self.handles = handles
    }
}

/// A clock that counts seconds as the dates of records do.
package protocol AgeClock: AnyObject, Sendable {
    var second: UInt64 { get }
}

/// How a read judges the ages of records.
package struct AgeRule {
    /// Asked once by a read that needs it.
    let clock: any AgeClock
    /// Whether the read accepts records that have expired.
    let acceptsExpired: Bool
    /// How old a record may be if neither its type nor its write says so, in seconds.
    let maxAge: UInt64?
    /// Whether records may expire whose type does not say so.
    let checksAll: Bool

    package init(
        acceptsExpired: Bool, maxAge: UInt64?, checksAll: Bool, clock: any AgeClock
    ) {
        self.acceptsExpired = acceptsExpired
        self.maxAge = maxAge
        self.checksAll = checksAll || maxAge != nil
        self.clock = clock
    }

    /// Returns the age of the oldest record of a tree, and whether any has expired.
    package func judge(_ ages: TreeAges) -> (oldest: Duration?, isExpired: Bool) {
        guard let oldest = ages.oldest else { return (nil, false) }
        let now = clock.second
        return (.seconds(now > oldest ? now - oldest : 0), now >= ages.freshUntil)
    }
}

/// What a read has found about the ages of the records of its tree.
package struct TreeAges: Sendable {
    /// When the oldest record that may expire was written; nil if none may.
    package var oldest: UInt64?
    /// When the first record expires, or has expired; `.max` for never.
    package var freshUntil = UInt64.max
    /// Whether the type or the cache gave a record its maximum age. The tree then depends on the
    /// dates of its records, and on that of a record that had none.
    package var dependsOnDates = false

    package init() {}

    package mutating func add(writtenAt: UInt64, maxAge: UInt64?) {
        oldest = min(oldest ?? .max, writtenAt)
        guard let maxAge else { return }
        // Such a record has always expired, even if its date is ahead of this process's clock.
        guard maxAge > 0 else { return freshUntil = 0 }
        let (due, isNever) = writtenAt.addingReportingOverflow(maxAge)
        if !isNever { freshUntil = min(freshUntil, due) }
    }
}

extension Duration {
    /// Returns a duration of minutes.
    public static func minutes(_ minutes: Int) -> Duration { .seconds(minutes * 60) }

    /// Returns a duration of hours.
    public static func hours(_ hours: Int) -> Duration { .seconds(hours * 3_600) }

    /// Returns a duration of days of 24 hours.
    public static func days(_ days: Int) -> Duration { .seconds(days * 86_400) }
}
