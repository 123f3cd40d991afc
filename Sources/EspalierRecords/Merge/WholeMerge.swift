// The common cases of a write, in which a record becomes what the tree has: no other type wrote the
// record, and a write that merges lacks nothing that the record has, because a server sends the
// same fields of a node each time.
//
//     record          id: 7, name: "Ada",   url: nil
//     tree            id: 7, name: "Grace", url: nil      the record becomes what the tree has

extension FlattenedTree {
    /// Returns whether the record of the node at `index` becomes exactly what the tree has.
    ///
    /// - Complexity: O(1), or O(bytes of both) for a write that merges.
    func replaces(_ old: Record?, at index: Int, policy: WritePolicy) throws -> Bool {
        guard !hasProjections || others[index] == nil else { return false }
        guard let old else { return true }
        if policy == .merge { return try fetchesAll(of: old, at: index) }
        return old.shape.types == [type(at: index)] || old.shape.types.isEmpty
    }

    /// Returns whether a merge into `old` keeps nothing of it: only the node's type wrote it, with
    /// the same fields, and it is nil in each field that the node lacks.
    private func fetchesAll(of old: Record, at index: Int) throws -> Bool {
        let part = entries[index].first
        guard !part.isCase, rules.isEmpty || rules[part.type] == nil,
            old.shape == shapes[part.shape]
        else { return false }
        let nulls = explicitNulls(of: part)
        return try ByteReader.reading(values) { mine in
            mine.position = part.values.lowerBound
            return try ByteReader.reading(old.values) { theirs in
                for slot in 0..<old.shape.count {
                    let (tag, known) = (try mine.peek(), try theirs.peek())
                    let isFetched = tag != Wire.null && tag != Wire.absent || nulls.contains(slot)
                    guard isFetched || tag == known else { return false }
                    try mine.skipValue()
                    try theirs.skipValue()
                }
                return true
            }
        }
    }
}
