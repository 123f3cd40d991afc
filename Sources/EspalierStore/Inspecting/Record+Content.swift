import EspalierLMDB
package import EspalierRecords

/// A stored value with the records its children name: `RecordValue.child(2)` in it is
/// `children[2]`.
package struct ShownValue: Sendable {
    package let value: RecordValue
    package let children: [Handle]
}

extension Record {
    /// Values are nested as deep as their writer's limits let them; the command line's is twice the
    /// default of reading.
    private static let maximumDepth = 1_024

    /// The fields of a node, in the order of its shape. Those that are absent are among them.
    package func fields() throws -> [(field: Shape.Field, value: RecordValue)] {
        try ByteReader.reading(values) { reader in
            try shape.fields.map {
                ($0, try RecordValue(reading: &reader, depth: Self.maximumDepth))
            }
        }
    }

    /// The value in a slot of a node's shape. Those before it are passed over.
    package func value(inSlot slot: Int) throws -> RecordValue {
        try ByteReader.reading(values) { reader in
            for _ in 0..<slot { try reader.skipValue() }
            return try RecordValue(reading: &reader, depth: Self.maximumDepth)
        }
    }

    /// What a key names.
    package func keyValue() throws -> RecordValue {
        try ByteReader.reading(values) { try RecordValue(reading: &$0, depth: Self.maximumDepth) }
    }

    /// How many elements a collection has; nil for other records.
    package var elementCount: Int? {
        nameSpace == .collection ? try? SegmentList(self).count : nil
    }

    /// The segments of a collection, in order, each with the indexes of its elements in the
    /// collection.
    package func segments() throws -> [(handle: Handle, elements: Range<Int>)] {
        var start = 0
        return try SegmentList(self).segments.map { segment in
            defer { start += segment.count }
            return (segment.handle, start..<start + segment.count)
        }
    }

    /// The elements of a segment, in order.
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
    /// The elements of a collection, in order. Throws a `FormatError` when one of its segments
    /// can't be read.
    package func elements(of collection: Record) throws -> [ShownValue] {
        try collection.children.flatMap { segment -> [ShownValue] in
            guard case .record(let record) = try self.record(segment) else {
                throw FormatError.malformed("a segment of the collection can't be read")
            }
            return try record.elements()
        }
    }
}
