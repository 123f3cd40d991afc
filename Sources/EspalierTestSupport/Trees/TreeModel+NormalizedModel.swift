import EspalierModels
package import EspalierRecords

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

    /// Of the first kind that the record's shape names; to read another projection, read a
    /// `TypedTree`.
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
