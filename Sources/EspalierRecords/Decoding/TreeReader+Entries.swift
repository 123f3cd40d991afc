// Entries that are not nodes: keys, collections and their segments. Their records have values, but
// no fields.
extension TreeReader {
    /// Decodes the values of a record that has to name itself `identifier`, in that name space.
    package func values<R>(
        entry handle: Handle, identifier: String, in nameSpace: NameSpace,
        _ body: (inout ValueDecoder) throws -> R
    ) throws -> R {
        expect(identifier, in: nameSpace)
        decodingPath.enter(handle)
        let opened = try open(handle)
        defer { leave(opened.values.children.lowerBound) }
        var values = ValueDecoder(
            reader: opened.values.reader, treeReader: self, children: opened.values.children)
        do {
            try values.skipValue()
            return try body(&values)
        } catch {
            throw failure(of: error)
        }
    }

    /// The children of a collection that has to name itself `identifier`: its segments.
    package func children(entry handle: Handle, identifier: String) throws -> [Handle] {
        try values(entry: handle, identifier: identifier, in: .collection) { decoder in
            Array(decodingPath.children[decoder.children])
        }
    }
}
