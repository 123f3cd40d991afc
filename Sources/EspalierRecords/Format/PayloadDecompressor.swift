/// Gives compressed payloads back, which this module does not know how to do.
package protocol PayloadDecompressor: AnyObject {
    /// Takes in a payload compressed with the dictionary of that number. Returns what it claims to
    /// expand to, checked against what a payload may be, and the dictionary's fingerprint.
    func load(_ payload: RawSpan, dictionary number: UInt64) throws -> (
        byteCount: Int, fingerprint: UInt64
    )

    /// Expands the payload taken in last into as many bytes as it claimed.
    func decompress(into output: inout MutableRawSpan) throws
}

/// A record as it was before its payload was compressed.
package struct DecompressedRecord {
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

    /// A stored record with its payload decompressed; one that is raw as it stands.
    package static func decompress(
        _ stored: ByteReader, by expansion: some PayloadDecompressor, in arena: RecordArena
    ) throws -> DecompressedRecord {
        try decompress(stored) { try $1.decompress($0, by: expansion, in: arena) }
    }

    /// The same, where `expand` expands what is compressed.
    static func decompress(
        _ stored: ByteReader, by decompress: (ByteReader, RecordLayout) throws -> DecompressedRecord
    ) throws -> DecompressedRecord {
        var reader = stored
        let layout = try RecordLayout(reading: &reader)
        guard layout.dictionaryNumber != 0 else {
            return DecompressedRecord(reader: stored, dictionary: 0)
        }
        for _ in 0..<layout.childCount { _ = try reader.varint() }
        var decompressed = try decompress(reader, layout)
        decompressed.reader.position = stored.position
        return decompressed
    }

    /// A compressed record with its payload decompressed, for a reader that stands at that. So does
    /// the one that comes back.
    package func decompress(
        _ reader: ByteReader, by expansion: some PayloadDecompressor, in arena: RecordArena
    ) throws -> DecompressedRecord {
        let payload = reader.position..<(try self.payload(reader).end)
        let claim = try reader.withBytes(payload) {
            try expansion.load($0, dictionary: dictionaryNumber)
        }
        var decompressed = try arena.copy(reader, with: claim.byteCount, inPlaceOf: payload) {
            try expansion.decompress(into: &$0)
        }
        decompressed.position = payload.lowerBound
        return DecompressedRecord(reader: decompressed, dictionary: claim.fingerprint)
    }
}
