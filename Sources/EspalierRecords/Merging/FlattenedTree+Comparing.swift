/// What a stored record has in common with a node of a tree.
package enum Likeness {
    /// It is another's, or it takes a closer look to tell.
    case none
    /// The identifier, and not all else. It has not been checked for damage.
    case identifier
    /// All it says but its children, of which there are as many. It is undamaged.
    case content

    // Patterns, because `==` would be a call.
    package var isNone: Bool { if case .none = self { true } else { false } }
    package var isContent: Bool { if case .content = self { true } else { false } }
}

extension FlattenedTree {
    /// Compares what the first projection of a node says with a stored record, value by value and
    /// without making a `Record` of that. Puts the record's children, which are for the caller to
    /// compare, at the end of `children`.
    ///
    /// `shapeNumber` is what the node's shape has; nil where it has none.
    package func likeness(
        of record: DecompressedRecord, at handle: Handle, to index: Int, shapeNumber: UInt64?,
        children: inout [Handle]
    ) throws(FormatError) -> Likeness {
        var reader = record.reader
        let layout = try RecordLayout(reading: &reader)
        guard layout.nameSpace == .node, !layout.hasOwnShape else { return .none }
        try layout.readChildren(&reader, of: handle, into: &children)
        var body = try layout.payload(reader)
        guard let count = try body.takeStringLength(),
            try body.matches(entries[index].identifier, count: count)
        else {
            return .none
        }
        let part = entries[index].first
        guard layout.shapeNumber == shapeNumber, layout.childCount == part.children.count,
            body.matchesRest(values, part.values)
        else { return .identifier }
        try layout.verify(
            record.reader, handle: handle, shape: shapes[part.shape].fingerprint,
            dictionary: record.dictionary)
        return .content
    }
}
