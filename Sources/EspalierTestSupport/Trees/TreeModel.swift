/// A model whose type is a value, for trees made by generators.
///
/// Fields missing from `values` are not encoded. `TypedTree` gives each kind a Swift type of its
/// own, which children are decoded as.
package struct TreeModel: Hashable, Sendable {
    package let kind: TreeKind
    package let identifier: String?
    package let values: [String: TreeValue]

    package init(kind: TreeKind, identifier: String?, values: [String: TreeValue]) {
        self.kind = kind
        self.identifier = identifier
        self.values = values
    }

    /// With every field that can be empty empty, but for `values`.
    package static func filled(
        _ kind: TreeKind, _ identifier: String?, _ values: [String: TreeValue]
    ) -> TreeModel {
        var all = values
        for field in kind.fields where all[field.name] == nil {
            all[field.name] = TreeValue.empty(field.content)
        }
        return TreeModel(kind: kind, identifier: identifier, values: all)
    }

    package func setting(_ name: String, to value: TreeValue) -> TreeModel {
        var values = values
        values[name] = value
        return TreeModel(kind: kind, identifier: identifier, values: values)
    }

    /// In the order in which they are encoded.
    package var children: [TreeModel] { kind.fields.flatMap { values[$0.name]?.children ?? [] } }

    /// The models of the tree, shared ones once for each occurrence.
    package var size: Int { children.reduce(1) { $0 + $1.size } }

    package var depth: Int { 1 + (children.map(\.depth).max() ?? 0) }

    package func contains(identifier: String) -> Bool {
        self.identifier == identifier || children.contains { $0.contains(identifier: identifier) }
    }
}

extension TreeModel: CustomStringConvertible {
    package var description: String {
        let parts = kind.fields.compactMap { field -> String? in
            guard let value = values[field.name] else { return nil }
            switch value {
            case .scalar(let scalar): return scalar.map { "\(field.name): \($0)" }
            case .child(let child): return child.map { "\(field.name): \($0)" }
            case .array(let children): return children.isEmpty ? nil : "\(field.name): \(children)"
            case .nested(let rows): return rows.isEmpty ? nil : "\(field.name): \(rows)"
            case .dictionary(let entries):
                let ordered = TreeValue.ordered(entries).map { "\($0.key): \($0.value)" }
                return entries.isEmpty ? nil : "\(field.name): \(ordered)"
            }
        }
        return "\(kind.rawValue) \(identifier ?? "inline") {\(parts.joined(separator: ", "))}"
    }
}
