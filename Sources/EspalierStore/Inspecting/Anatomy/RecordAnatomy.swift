package import EspalierRecords

/// One record as its bytes stand in the file, taken apart as far as damage lets it be.
///
///     chunks    what stands under the record's handle: one value, or a long record's chunks
///     joined    the slices of the chunks, one after the other
///     parts     where in `joined` version, flags, shape, ... stand; what can't be told any more is one part, "rest"
///     decompressed  the payload before it was compressed
///
/// Made from any bytes; `problem` says what is wrong with them first, if something is.
package struct RecordAnatomy: Sendable {
    /// A value as stored.
    package struct Chunk: Sendable {
        package let number: UInt32
        package let bytes: [UInt8]
        /// Where its slice of the record stands.
        package let slice: Range<Int>
        /// Nil for a record that is one value: that has the record's own check only.
        package let isIntact: Bool?
    }

    package enum PartName: String, Sendable, CaseIterable {
        case version, flags, extensions, shape, dictionary, children, payload, check
        /// What stands behind the damage.
        case rest
    }

    package struct Part: Sendable, Equatable {
        package let name: PartName
        package let range: Range<Int>
    }

    package let handle: Handle
    package internal(set) var chunks: [Chunk] = []
    /// How many chunks the first one says there are; nil for a record that is one value.
    package internal(set) var namedChunks: Int?
    package internal(set) var joined: [UInt8] = []
    package internal(set) var parts: [Part] = []
    package internal(set) var version: UInt8?
    package internal(set) var flags: UInt8?
    package internal(set) var shapeNumber: UInt64?
    package internal(set) var dictionaryNumber: UInt64?
    package internal(set) var children: [Handle]?
    /// Of the record, where it could be had.
    package internal(set) var shape: Shape?
    /// The payload as it was before it was compressed; nil where it stands there raw, or can't be
    /// decompressed.
    package internal(set) var decompressed: [UInt8]?
    package internal(set) var problem: String?

    package init(handle: Handle) { self.handle = handle }

    package var isChunked: Bool { namedChunks != nil }

    /// Bytes as stored, all chunks together.
    package var storedByteCount: Int { chunks.reduce(0) { $0 + $1.bytes.count } }

    /// Bytes before the payload was compressed and the record cut; nil where that can't be told.
    package var rawByteCount: Int? {
        guard let payload = part(.payload), let dictionaryNumber else { return nil }
        guard dictionaryNumber != 0 else { return joined.count }
        return decompressed.map { joined.count - payload.count + $0.count }
    }

    package func part(_ name: PartName) -> Range<Int>? { parts.first { $0.name == name }?.range }

    package var nameSpace: NameSpace? {
        flags.flatMap { NameSpace(rawValue: $0 & RecordLayout.Flag.nameSpaceMask) }
    }

    package var hasOwnShape: Bool { (flags ?? 0) & RecordLayout.Flag.ownShape != 0 }

    /// The flags in words, the kind of record first. Bits that mean nothing are named by their
    /// place.
    package var flagNames: [String] {
        guard let flags else { return [] }
        var names = [
            nameSpace.map { "\($0)" } ?? "unknown kind \(flags & RecordLayout.Flag.nameSpaceMask)"
        ]
        if flags & RecordLayout.Flag.extensions != 0 { names.append("extensions") }
        if flags & RecordLayout.Flag.ownShape != 0 { names.append("own shape") }
        for bit in [5, 6] where flags & 1 << UInt8(bit) != 0 { names.append("unknown bit \(bit)") }
        if isChunked || flags & RecordLayout.Flag.chunked != 0 { names.append("chunked") }
        return names
    }
}
