// Entries that are not nodes: keys, collections and their segments. Their records have values, but no fields.
extension Assembly {
    /// Decodes the values of a record that has to name itself `identifier`.
    package func values<R>(
        entry handle: Handle, identifier: String, _ body: (inout ValueDecoder) throws -> R
    ) throws -> R {
        var result: R?
        expectedIdentifier = identifier
        try withRecord(handle) { reader in
            let firstChild = childHandles.count
            defer { childHandles.removeLast(childHandles.count - firstChild) }
            let opened = try open(&reader, handle)
            var values = ValueDecoder(reader: opened.body, assembly: self, children: opened.children)
            try values.skipValue()
            result = try body(&values)
        }
        guard let result else { throw stop(.dangling) }
        return result
    }

    /// The children of a record that has to name itself `identifier`.
    package func children(entry handle: Handle, identifier: String) throws -> [Handle] {
        try values(entry: handle, identifier: identifier) { decoder in
            Array(childHandles[decoder.children])
        }
    }
}
