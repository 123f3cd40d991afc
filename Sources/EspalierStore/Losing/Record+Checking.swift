import EspalierRecords

extension Record {
    /// Throws a `FormatError` unless every value is of a kind there is and can be walked, there are
    /// as many as fields, and every child of the record is named by one of them, and no other.
    func checkValues() throws {
        let count = nameSpace == .node ? shape.count : 1
        var splicer = ValueSplicer()
        try ByteReader.reading(values) { reader in
            for _ in 0..<count { try reader.skipValue() }
            guard reader.isAtEnd else { throw FormatError.malformed("more values than fields") }
            reader.position = 0
            while !reader.isAtEnd {
                if try reader.kind() == .string {
                    _ = try reader.readString()
                } else {
                    try reader.skipHead()
                }
            }
        }
        // A collection's children are its segments, which its counts stand for.
        guard nameSpace != .collection else { return _ = try SegmentList(self) }
        try splicer.append(values, children: children)
        guard splicer.children.count == children.count else {
            throw FormatError.malformed("a child that no value names")
        }
    }
}
