/// Gives compressed payloads back, which this module does not know how to do.
package protocol PayloadExpansion: AnyObject {
    /// Takes in a payload compressed with the dictionary of that number. Returns what it claims to expand to, checked against
    /// what a payload may be, and the dictionary's fingerprint.
    func load(_ payload: RawSpan, dictionary number: UInt64) throws -> (byteCount: Int, fingerprint: UInt64)

    /// Expands the payload taken in last into as many bytes as it claimed.
    func expand(into output: inout MutableRawSpan) throws
}

/// A record as it was before its payload was compressed.
package struct ExpandedRecord {
    /// Of use as long as the arena it stands in.
    package let reader: ByteReader
    /// The fingerprint of the dictionary, which is in the check; 0 where there was none.
    package let dictionary: UInt64

    package init(reader: ByteReader, dictionary: UInt64) {
        self.reader = reader
        self.dictionary = dictionary
    }
}

extension RecordLayout {
    /// What `dictionary` says of payloads that were compressed without one.
    package static let noDictionary: UInt64 = 1

    /// A stored record with its payload expanded; one that is raw as it stands.
    package static func expand(
        _ stored: ByteReader, by expansion: some PayloadExpansion, in arena: RecordArena
    ) throws -> ExpandedRecord {
        var reader = stored
        let layout = try RecordLayout(reading: &reader)
        guard layout.dictionaryNumber != 0 else { return ExpandedRecord(reader: stored, dictionary: 0) }
        for _ in 0..<layout.childCount { _ = try reader.varint() }
        let head = reader.position
        guard head <= layout.end else { throw FormatError.truncated }
        let claim = try stored.withBytes(head..<layout.end) {
            try expansion.load($0, dictionary: layout.dictionaryNumber)
        }
        let expanded = try arena.copy(stored, with: claim.byteCount, inPlaceOf: head..<layout.end) {
            try expansion.expand(into: &$0)
        }
        return ExpandedRecord(reader: expanded, dictionary: claim.fingerprint)
    }
}
