/// Joins values of several records into one, and renumbers their children.
///
/// Children get their ordinals in the order of first use, so that the same values in the same order
/// always make the same bytes.
package struct ValueSplicer: ~Copyable {
    package private(set) var writer = ByteWriter()
    package private(set) var children: [Handle] = []
    /// Made for the first child whose handle is not higher than all before it. Until then the
    /// children ascend, as those of new nodes do, and none occurs twice.
    private var ordinals: [Handle: Int]?

    package init() {}

    package var values: [UInt8] { writer.bytes }

    /// Appends the head of an array, which holds no child.
    package mutating func append(arrayOf count: Int) { writer.append(arrayOf: count) }

    /// Appends the value in `range` of `reader`. `child` returns the handle of an ordinal.
    package mutating func append(
        _ range: Range<Int>, of reader: ByteReader, child: (Int) throws -> Handle
    ) throws {
        var reader = reader
        reader.position = range.lowerBound
        var copied = range.lowerBound
        while reader.position < range.upperBound {
            let start = reader.position
            if let ordinal = try reader.readChild() {
                reader.copy(copied..<start, into: &writer)
                writer.append(child: self.ordinal(of: try child(ordinal)))
                copied = reader.position
            } else {
                try reader.skipHead()
            }
        }
        guard reader.position == range.upperBound else { throw FormatError.truncated }
        reader.copy(copied..<range.upperBound, into: &writer)
    }

    /// Appends a reference.
    package mutating func append(reference handle: Handle) {
        writer.append(child: ordinal(of: handle))
    }

    /// Appends a whole value, whose ordinals are positions in `children`.
    package mutating func append(_ value: [UInt8], children: [Handle]) throws {
        try ByteReader.reading(value) { reader in
            try append(0..<value.count, of: reader) { ordinal in
                guard ordinal < children.count else {
                    throw FormatError.malformed("a child that is not in the record")
                }
                return children[ordinal]
            }
        }
    }

    private mutating func ordinal(of child: Handle) -> Int {
        let ordinal = children.count
        if ordinals == nil {
            guard let last = children.last, child <= last else {
                children.append(child)
                return ordinal
            }
            ordinals = Dictionary(uniqueKeysWithValues: zip(children, 0...))
        }
        if let known = ordinals?[child] { return known }
        children.append(child)
        ordinals?[child] = ordinal
        return ordinal
    }
}
