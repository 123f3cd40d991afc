/// What a handle names.
package enum RecordLookup {
    /// A record as stored, joined. The bytes are lent: they stay as long as the source's snapshot
    /// is open and, where they are the source's own, as long as `owner` lives.
    case found(ByteReader, owner: RecordBuffer?)
    /// A deleted record that living ones still refer to.
    case tombstone
    /// A record found damaged.
    case lost
    case nothing
}

/// Where an treeReader gets its records: a snapshot of the store, or a dictionary in a test.
///
/// Lending the bytes instead of running a closure on them keeps the recursion over models flat:
/// closures around every record took a third of reading a feed.
package protocol RecordSource: AnyObject {
    func record(_ handle: Handle) throws -> RecordLookup
    /// A compressed record as it was before, for a reader that stands at its payload, as the one
    /// does that comes back: lent as long as the source lives.
    func decompress(_ reader: ByteReader, _ layout: RecordLayout) throws -> DecompressedRecord
    func shape(_ number: UInt64) throws -> Shape?
}

extension RecordSource {
    /// For a source without compressed records.
    package func decompress(_ reader: ByteReader, _ layout: RecordLayout) throws
        -> DecompressedRecord
    {
        throw FormatError.unknownDictionary(layout.dictionaryNumber)
    }

    /// A stored record, decompressed if it is compressed.
    func decompressed(_ stored: ByteReader) throws -> DecompressedRecord {
        try RecordLayout.decompress(stored, by: decompress)
    }
}
