import Synchronization

/// Ends a read from another thread: the read throws before it opens its next record.
package final class ReadCancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    package init() {}

    package var isSet: Bool { flag.load(ordering: .relaxed) }

    package func set() { flag.store(true, ordering: .relaxed) }
}

/// What a source finds under a handle.
package enum RecordLookup {
    /// A verified record. The bytes are lent: they stay in place as long as the source and, if they
    /// are in memory of their own, while `owner` lives.
    case found(ByteReader, owner: RecordBuffer?)
    /// A deleted record that living records still refer to.
    case tombstone
    /// A record that was found damaged, was detached by eviction, or is not restored yet.
    case lost
    case nothing
}

/// The records of one snapshot: of a store, or of a dictionary in a test.
///
/// ```swift
/// switch try source.record(handle) {
/// case .found(let reader, let owner): decode(reader, keeping: owner)
/// case .tombstone, .lost, .nothing: miss()
/// }
/// ```
///
/// A source lends bytes instead of running a closure on them. That keeps the recursion over models
/// flat: closures around every record took a third of reading a feed.
package protocol RecordSource: AnyObject {
    /// Returns the record of `handle`. Throws if it is damaged.
    func record(_ handle: Handle) throws -> RecordLookup

    /// Returns the shape with that number; nil if the table has none.
    func shape(_ number: UInt64) throws -> Shape?

    /// Returns when the record of `handle` was written, and how old it may be; nil if neither is
    /// known. By default nothing is known.
    func times(of handle: Handle) throws -> RecordTimes?
}

extension RecordSource {
    package func times(of handle: Handle) throws -> RecordTimes? { nil }
}
