/// What a handle names.
package enum RecordPresence: Sendable, Equatable {
    case found
    /// A deleted record that living ones still refer to.
    case tombstone
    /// A record found damaged.
    case lost
    /// Nothing.
    case nothing
}

/// Where an assembly gets its records: a snapshot of the store, or a dictionary in a test.
package protocol RecordSource: AnyObject {
    /// Runs `body` with the record of `handle`, joined and uncompressed; not at all unless the answer is `.found`.
    func withRecord(_ handle: Handle, _ body: (RawSpan) throws -> Void) throws -> RecordPresence
    func shape(_ number: UInt64) throws -> Shape?
}
