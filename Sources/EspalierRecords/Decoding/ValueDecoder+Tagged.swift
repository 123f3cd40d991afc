extension ValueDecoder {
    /// An array of two: a text, which says how to read what follows.
    ///
    /// Both stand or go together: what `body` finds deleted is this value, not an element of it.
    package mutating func decodeTagged<Value>(
        _ body: (String, inout ValueDecoder) throws -> Value
    ) throws -> Value {
        let start = reader.position
        let treeReader = treeReader
        return try treeReader.nested {
            guard try reader.takeArrayCount() == 2, let tag = try reader.takeString() else {
                reader.position = start
                throw mismatch("an array of a type name and a model")
            }
            return try body(tag, &self)
        }
    }
}
