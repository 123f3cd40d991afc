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
    package internal(set) var reader: ByteReader
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
        try expand(stored) { try $1.expand($0, by: expansion, in: arena) }
    }

    /// The same, where `expand` expands what is compressed.
    static func expand(
        _ stored: ByteReader, by expand: (ByteReader, RecordLayout) throws -> ExpandedRecord
    ) throws -> ExpandedRecord {
        var reader = stored
        let layout = try RecordLayout(reading: &reader)
        guard layout.dictionaryNumber != 0 else { return ExpandedRecord(reader: stored, dictionary: 0) }
        for _ in 0..<layout.childCount { _ = try reader.varint() }
        var expanded = try expand(reader, layout)
        expanded.reader.position = stored.position
        return expanded
    }

    /// A compressed record with its payload expanded, for a reader that stands at that. So does the one that comes back.
    package func expand(
        _ reader: ByteReader, by expansion: some PayloadExpansion, in arena: RecordArena
    ) throws -> ExpandedRecord {
        let payload = reader.position..<(try self.payload(reader).end)
        let claim = try reader.withBytes(payload) { try expansion.load($0, dictionary: dictionaryNumber) }
        var expanded = try arena.copy(reader, with: claim.byteCount, inPlaceOf: payload) {
            try expansion.expand(into: &$0)
        }
        expanded.position = payload.lowerBound
        return ExpandedRecord(reader: expanded, dictionary: claim.fingerprint)
    }
}
