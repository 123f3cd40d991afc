import EspalierModels
package import EspalierRecords

/// A model whose type is a value, for trees that generators make.
///
/// Fields missing from `values` are not encoded. ``TypedTree`` gives each kind a Swift type of its
/// own, as which children are decoded.
package struct TreeModel: Hashable, Sendable {
    package let kind: TreeKind
    package let identifier: String?
    package let values: [String: TreeValue]

    package init(kind: TreeKind, identifier: String?, values: [String: TreeValue]) {
        self.kind = kind
        self.identifier = identifier
        self.values = values
    }

    /// Makes a model in which every field that may be empty is empty, except `values`.
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

    /// The children, in the order in which they are encoded.
    package var children: [TreeModel] { kind.fields.flatMap { values[$0.name]?.children ?? [] } }

    /// The number of models of the tree. A shared model counts once for each occurrence.
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

extension TreeModel: NormalizedModel {
    package var modelIdentifier: String? { identifier }
    package var projectionIdentifier: String { kind.rawValue }

    package func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(identifier, forKey: TreeKind.identifierField)
        for field in kind.fields {
            switch values[field.name] {
            case .scalar(let value): try encoder.encode(value, forKey: field.name)
            case .child(let child): try encoder.encode(child, forKey: field.name)
            case .array(let children): try encoder.encode(children, forKey: field.name)
            case .nested(let rows): try encoder.encode(rows, forKey: field.name)
            case .dictionary(let entries): try encoder.encode(entries, forKey: field.name)
            case nil: break
            }
        }
    }

    /// Writes the model as one of a type of its own for each kind.
    package func encodeValue(into encoder: ValueEncoder) throws {
        try encoder.encodeModel(
            identifier: modelIdentifier, projection: projectionIdentifier,
            traits: TypeTraits(policy: kind.merges ? .merge : .replace)
        ) {
            try encode(to: &$0)
        }
    }

    /// Decodes the first kind that the record's shape names. Another projection is read by a
    /// ``TypedTree``.
    package init(from decoder: inout RecordDecoder) throws {
        guard let kind = decoder.shape?.types.lazy.compactMap({ TreeKind(rawValue: $0) }).first
        else {
            throw ReadFailure(.notStorable("TreeModel without a kind"))
        }
        try self.init(kind: kind, from: &decoder)
    }

    package init(kind: TreeKind, from decoder: inout RecordDecoder) throws {
        let identifier = try decoder.decode(String?.self, forKey: TreeKind.identifierField)
        var values: [String: TreeValue] = [:]
        for field in kind.fields {
            values[field.name] = try Self.value(of: field, from: &decoder)
        }
        self.init(kind: kind, identifier: identifier, values: values)
    }

    private static func value(of field: TreeKind.Field, from decoder: inout RecordDecoder) throws
        -> TreeValue
    {
        guard let child = field.content.child else {
            if field.content == .scalar {
                return .scalar(try decoder.decode(TreeScalar.self, forKey: field.name))
            }
            return .scalar(try decoder.decode(TreeScalar?.self, forKey: field.name))
        }
        return switch child {
        case .node: try children(TreeTypes.Node.self, field, &decoder)
        case .summary: try children(TreeTypes.Summary.self, field, &decoder)
        case .owned: try children(TreeTypes.Owned.self, field, &decoder)
        case .framed: try children(TreeTypes.Framed.self, field, &decoder)
        case .caption: try children(TreeTypes.Caption.self, field, &decoder)
        case .note: try children(TreeTypes.Note.self, field, &decoder)
        }
    }

    private static func children<Type: TreeType>(
        _ type: Type.Type, _ field: TreeKind.Field, _ decoder: inout RecordDecoder
    ) throws -> TreeValue {
        typealias Child = TypedTree<Type>
        return switch field.content {
        case .scalar, .optionalScalar: .scalar(nil)
        case .optional: .child(try decoder.decode(Child?.self, forKey: field.name)?.tree)
        case .required: .child(try decoder.decode(Child.self, forKey: field.name).tree)
        case .array: .array(try decoder.decode([Child].self, forKey: field.name).map(\.tree))
        case .nested:
            .nested(try decoder.decode([[Child]].self, forKey: field.name).map { $0.map(\.tree) })
        case .dictionary:
            .dictionary(
                try decoder.decode([String: Child].self, forKey: field.name).mapValues(\.tree))
        }
    }
}

/// The content of a field of a tree model.
package indirect enum TreeValue: Hashable, Sendable {
    case scalar(TreeScalar?)
    case child(TreeModel?)
    case array([TreeModel])
    case nested([[TreeModel]])
    case dictionary([String: TreeModel])

    /// The children, in the order in which they are encoded.
    package var children: [TreeModel] {
        switch self {
        case .scalar: []
        case .child(let child): child.map { [$0] } ?? []
        case .array(let children): children
        case .nested(let rows): rows.flatMap(\.self)
        case .dictionary(let entries): Self.ordered(entries).map(\.value)
        }
    }

    /// Returns the entries in the encoder's order: by the bytes of a short string, which start with
    /// its length.
    package static func ordered<Value>(_ entries: [String: Value]) -> [(key: String, value: Value)]
    {
        entries.sorted { a, b in
            let counts = (a.key.utf8.count, b.key.utf8.count)
            return counts.0 == counts.1
                ? a.key.utf8.lexicographicallyPrecedes(b.key.utf8) : counts.0 < counts.1
        }
    }

    /// Returns the empty content of a field; nil where the field may not be empty.
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

    /// Returns the content with one more child. Every second child of a nested array starts a row.
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

/// A value without children in a field of a tree model.
package enum TreeScalar: Hashable, Sendable {
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case bytes([UInt8])
}

extension TreeScalar: FieldValue {
    package func encodeValue(into encoder: ValueEncoder) throws {
        switch self {
        case .bool(let value): encoder.encode(value)
        case .integer(let value): encoder.encode(value)
        case .double(let value): encoder.encode(value)
        case .string(let value): encoder.encode(value)
        case .bytes(let value): encoder.encode(bytes: value)
        }
    }

    package static func decodeValue(from decoder: inout ValueDecoder) throws -> TreeScalar {
        switch try decoder.kind() {
        case .bool: .bool(try decoder.decodeBool())
        case .integer: .integer(try decoder.decodeInteger())
        case .float: .double(try decoder.decodeDouble())
        case .string: .string(try decoder.decodeString())
        default: .bytes(try decoder.decodeBytes())
        }
    }
}
