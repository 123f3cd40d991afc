import EspalierRecords

extension OracleStore {
    /// How many elements of the collection under `key` are there, deleted ones not counted; nil
    /// when there is none.
    package func countOfCollection(_ key: String) -> Int? {
        collections[Identifier(key)].map { $0.count { !isDeleted($0) } }
    }

    /// Writes `trees` and applies `edit` to the collection's elements, deleted ones left out, and
    /// those of `trees`.
    package mutating func editCollection(
        _ key: String, with trees: [TreeModel] = [],
        _ edit: (inout [OracleValue], [OracleValue]) -> Void
    ) {
        let values = flatten(trees, policy: .replace)
        var elements = (collections[Identifier(key)] ?? []).filter { !isDeleted($0) }
        edit(&elements, values)
        collections[Identifier(key)] = elements
    }

    /// Whether an element refers to a deleted record; an inline one never does.
    private func isDeleted(_ element: OracleValue) -> Bool {
        guard case .reference(let number) = element else { return false }
        return records[number].state == .deleted
    }
}
