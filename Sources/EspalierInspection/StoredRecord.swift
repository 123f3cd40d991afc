package import EspalierRecords
import EspalierStore

/// The record under a handle, or the reason why there is none.
package enum StoredRecord {
    case record(Record)
    /// A tombstone: the record was deleted, and others still refer to it.
    case deleted
    /// The record was found damaged earlier, and removed.
    case lost
    /// The record's bytes can't be decoded.
    case damaged(_ detail: String)
    /// There is no record: a reference to the handle dangles.
    case nothing

    /// The reason why there is no record, as reports of checks name it; nil for a record.
    var problem: String? {
        switch self {
        case .record: nil
        case .deleted: "deleted"
        case .lost: "lost"
        case .damaged(let detail): "damaged: \(detail)"
        case .nothing: "it is not there"
        }
    }
}

/// An entry of the index: an identifier or key, and the handle to which it leads.
package struct IndexEntry: Sendable, Hashable {
    package let nameSpace: NameSpace
    /// The identifier; only its beginning unless `isWhole`.
    package let identifier: String
    /// The identifier as reports show it: a beginning ends with an ellipsis.
    package var shownIdentifier: String { isWhole ? identifier : identifier + "…" }
    /// The handle; 0, which no record has, where the entry is damaged.
    package let handle: Handle
    /// Whether `identifier` is complete. The index holds only the beginnings of most identifiers,
    /// and hashes of long ones; they are complete only if the record, which holds all of them, can
    /// be read.
    package let isWhole: Bool
    /// Whether not even a beginning is known, so that `identifier` is made up.
    package var isNameless = false
    /// The key of the index for an identifier that is too long for one; only its beginning unless
    /// `isWhole`.
    package var longKey: [UInt8]?

    /// The key of the index, or its beginning.
    package var key: [UInt8] { longKey ?? IndexKey.bytes(nameSpace, identifier) }

    package static func == (a: IndexEntry, b: IndexEntry) -> Bool {
        a.handle == b.handle && a.nameSpace == b.nameSpace && a.isWhole == b.isWhole
            && Identifier(a.identifier) == Identifier(b.identifier)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(handle)
        hasher.combine(Identifier(identifier))
    }
}

/// A stored value, and the records to which it refers: `RecordValue.child(2)` in it is
/// `children[2]`.
package struct ShownValue: Sendable {
    package let value: RecordValue
    package let children: [Handle]
}

extension Record {
    /// The deepest nesting that is decoded. The writer's limits determine how deep values are, and
    /// the tool writes with twice the default limit.
    private static let maximumDepth = 1_024

    /// Decodes the fields of a node, in the order of its shape, absent ones included.
    package func fields() throws -> [(field: Shape.Field, value: RecordValue)] {
        try ByteReader.reading(values) { reader in
            try shape.fields.map {
                ($0, try RecordValue(reading: &reader, depth: Self.maximumDepth))
            }
        }
    }

    /// Decodes the value in one slot of a node's shape, and skips those before it.
    package func value(inSlot slot: Int) throws -> RecordValue {
        try ByteReader.reading(values) { reader in
            for _ in 0..<slot { try reader.skipValue() }
            return try RecordValue(reading: &reader, depth: Self.maximumDepth)
        }
    }

    /// Decodes the value of a key.
    package func keyValue() throws -> RecordValue {
        try ByteReader.reading(values) { try RecordValue(reading: &$0, depth: Self.maximumDepth) }
    }

    /// The number of elements of a collection; nil for other records.
    package var elementCount: Int? {
        nameSpace == .collection ? try? SegmentList(self).count : nil
    }

    /// Decodes the segments of a collection, in order, each with the indexes that its elements have
    /// in the collection.
    package func segments() throws -> [(handle: Handle, elements: Range<Int>)] {
        var start = 0
        return try SegmentList(self).segments.map { segment in
            defer { start += segment.count }
            return (segment.handle, start..<start + segment.count)
        }
    }

    /// Decodes the elements of a segment, in order.
    package func elements() throws -> [ShownValue] {
        try SegmentContent.decode(self).map { element in
            let content = try SegmentContent.encoded(element)
            let value = try ByteReader.reading(content.values) {
                try RecordValue(reading: &$0, depth: Self.maximumDepth)
            }
            return ShownValue(value: value, children: content.children)
        }
    }
}

extension Inspection {
    /// Reads the elements of a collection, in order.
    ///
    /// - Throws: A `FormatError` when one of its segments can't be read.
    package func elements(of collection: Record) throws -> [ShownValue] {
        try collection.children.flatMap { segment -> [ShownValue] in
            guard case .record(let record) = try self.record(segment) else {
                throw FormatError.malformed("a segment of the collection can't be read")
            }
            return try record.elements()
        }
    }
}
