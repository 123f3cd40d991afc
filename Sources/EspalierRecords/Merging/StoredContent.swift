/// What a record is to say, to be compared with one that is stored, value by value and without making a `Record` of that.
package struct StoredContent {
    let handle: Handle
    let nameSpace: NameSpace
    let shape: Shape
    let shapeNumber: UInt64
    let children: [Handle]
    let identifier: String
    let values: [UInt8]

    /// `number` is the shape's, which 0 stands for none of.
    package init(
        handle: Handle, nameSpace: NameSpace, shape: Shape, number: UInt64, children: [Handle], identifier: String,
        values: [UInt8]
    ) {
        self.handle = handle
        self.nameSpace = nameSpace
        self.shape = shape
        shapeNumber = number
        self.children = children
        self.identifier = identifier
        self.values = values
    }

    /// Whether `record` says just this and is undamaged.
    package func isStored(in record: ExpandedRecord) throws(FormatError) -> Bool {
        var reader = record.reader
        let layout = try RecordLayout(reading: &reader)
        guard layout.nameSpace == nameSpace, !layout.hasOwnShape, layout.shapeNumber == shapeNumber,
            layout.childCount == children.count
        else { return false }
        for child in children {
            guard child.rawValue == handle.rawValue &+ UInt64(bitPattern: try reader.signedVarint()) else {
                return false
            }
        }
        var body = try layout.payload(reader)
        guard let count = try body.takeStringLength(), try body.matches(identifier, count: count),
            body.matchesRest(values)
        else { return false }
        try layout.verify(
            record.reader, handle: handle, shape: shape.fingerprint, dictionary: record.dictionary)
        return true
    }
}
