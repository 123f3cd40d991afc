/// What stands in a field of a tree model.
package indirect enum TreeValue: Hashable, Sendable {
    case scalar(TreeScalar?)
    case child(TreeModel?)
    case array([TreeModel])
    case nested([[TreeModel]])
    case dictionary([String: TreeModel])

    /// The children in the order in which they are encoded.
    package var children: [TreeModel] {
        switch self {
        case .scalar: []
        case .child(let child): child.map { [$0] } ?? []
        case .array(let children): children
        case .nested(let rows): rows.flatMap(\.self)
        case .dictionary(let entries): Self.ordered(entries).map(\.value)
        }
    }

    /// Entries in the encoder's order: by the bytes of a short string, which start with its length.
    package static func ordered<Value>(_ entries: [String: Value]) -> [(key: String, value: Value)]
    {
        entries.sorted { a, b in
            let counts = (a.key.utf8.count, b.key.utf8.count)
            return counts.0 == counts.1
                ? a.key.utf8.lexicographicallyPrecedes(b.key.utf8) : counts.0 < counts.1
        }
    }

    /// A field of `content` with nothing in it; nil where something has to stand.
    package static func empty(_ content: TreeKind.Content) -> TreeValue? {
        switch content {
        case .scalar, .required: nil
        case .optionalScalar: .scalar(nil)
        case .optional: .child(nil)
        case .array: .array([])
        case .nested: .nested([])
        case .dictionary: .dictionary([:])
        }
    }

    /// The same with one more child. Every second child of a nested array starts a row.
    package func adding(_ child: TreeModel) -> TreeValue {
        switch self {
        case .scalar, .child: return .child(child)
        case .array(let children): return .array(children + [child])
        case .nested(var rows):
            if let last = rows.indices.last, rows[last].count == 1 {
                rows[last].append(child)
            } else {
                rows.append([child])
            }
            return .nested(rows)
        case .dictionary(var entries):
            entries["k\(entries.count)"] = child
            return .dictionary(entries)
        }
    }
}
