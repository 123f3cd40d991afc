/// What a handle names.
package enum RecordLookup {
    /// A record, joined and uncompressed. The bytes are lent: they stay as long as the source's snapshot is open and, where
    /// they are the source's own, as long as the source or, where there is one, `owner` lives. `dictionary` is the fingerprint
    /// of the one the record was compressed with, else 0.
    case found(ByteReader, dictionary: UInt64 = 0, owner: RecordBuffer? = nil)
    /// A deleted record that living ones still refer to.
    case tombstone
    /// A record found damaged.
    case lost
    case nothing
}

/// Where an assembly gets its records: a snapshot of the store, or a dictionary in a test.
///
/// Lending the bytes instead of running a closure on them keeps the recursion over models flat: closures around every
/// record took a third of reading a feed.
package protocol RecordSource: AnyObject {
    func record(_ handle: Handle) throws -> RecordLookup
    func shape(_ number: UInt64) throws -> Shape?
}
