import EspalierLMDB
package import EspalierRecords

/// A stored value with the records its children name: `RecordValue.child(2)` in it is `children[2]`.
package struct ShownValue: Sendable {
    package let value: RecordValue
    package let children: [Handle]
}

extension Record {
    /// The fields of a node, in the order of its shape. Those that are absent are among them.
    package func fields() throws -> [(field: Shape.Field, value: RecordValue)] {
        try ByteReader.reading(values) { reader in
            try shape.fields.map { ($0, try RecordValue(reading: &reader)) }
        }
    }

    /// What a key names.
    package func keyValue() throws -> RecordValue {
        try ByteReader.reading(values) { try RecordValue(reading: &$0) }
    }

    /// How many elements a collection has; nil for other records.
    package var elementCount: Int? {
        nameSpace == .collection ? try? SegmentList(self).count : nil
    }
}

extension Inspection {
    /// The elements of a collection, in order. Throws a `FormatError` when one of its segments can't be read.
    package func elements(of collection: Record) throws -> [ShownValue] {
        try collection.children.flatMap { segment -> [ShownValue] in
            guard case .record(let record) = try self.record(segment) else {
                throw FormatError.malformed("a segment of the collection can't be read")
            }
            return try SegmentContent.decode(record).map { element in
                let value = try ByteReader.reading(element.bytes) { try RecordValue(reading: &$0) }
                return ShownValue(value: value, children: element.children)
            }
        }
    }
}
