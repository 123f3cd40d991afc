import EspalierModels
package import EspalierRecords

/// The types of the dynamic test model. Together they have every place in which a child can stand.
package enum TreeKind: String, CaseIterable, Sendable, Hashable {
    /// The main type, with a child in every position that may be empty.
    case node
    /// Another projection of the records of `node`: it shares `title` and adds the rest.
    case summary
    /// Requires its owner.
    case owned
    /// Requires an inline value that requires its subject.
    case framed
    /// Inline, with a required reference.
    case caption
    /// Inline, with references and inline values that may be empty.
    case note

    package enum Content: Sendable, Hashable {
        case scalar
        case optionalScalar
        case optional(TreeKind)
        case required(TreeKind)
        case array(TreeKind)
        case nested(TreeKind)
        case dictionary(TreeKind)

        /// The kind of the children, for a field that has any.
        package var child: TreeKind? {
            switch self {
            case .scalar, .optionalScalar: nil
            case .optional(let kind), .required(let kind), .array(let kind), .nested(let kind),
                .dictionary(let kind):
                kind
            }
        }

        package var isRequiredChild: Bool {
            if case .required = self { true } else { false }
        }
    }

    package struct Field: Sendable, Hashable {
        package let name: String
        package let content: Content
    }

    /// The field in which every kind encodes its identifier, before all other fields: a decoder
    /// does not know the identifier of its record.
    package static let identifierField = "id"

    /// The fields the kind declares, in the order in which they are encoded and decoded.
    package var fields: [Field] {
        switch self {
        case .node: Self.nodeFields
        case .summary: Self.summaryFields
        case .owned: Self.ownedFields
        case .framed: Self.framedFields
        case .caption: Self.captionFields
        case .note: Self.noteFields
        }
    }

    /// Inline kinds never have an identifier.
    package var isInline: Bool { self == .caption || self == .note }

    /// Whether nodes of the kind merge where their types decide.
    package var merges: Bool { self == .summary || self == .owned }

    /// Identifiers of one family name the same records.
    package var family: String { self == .summary ? Self.node.rawValue : rawValue }

    /// The number of models in the smallest tree of the kind.
    package var minimumSize: Int {
        switch self {
        case .node, .summary, .note: 1
        case .owned, .caption: 2
        case .framed: 3
        }
    }

    private static let nodeFields = [
        Field(name: "number", content: .scalar), Field(name: "title", content: .optionalScalar),
        Field(name: "next", content: .optional(.node)),
        Field(name: "items", content: .array(.node)),
        Field(name: "grid", content: .nested(.node)),
        Field(name: "table", content: .dictionary(.node)),
        Field(name: "note", content: .optional(.note)),
        Field(name: "caption", content: .optional(.caption)),
        Field(name: "pieces", content: .array(.owned)),
        Field(name: "frame", content: .optional(.framed)),
        Field(name: "view", content: .optional(.summary)),
    ]
    private static let summaryFields = [
        Field(name: "badge", content: .scalar), Field(name: "title", content: .optionalScalar),
        Field(name: "cover", content: .optional(.node)),
    ]
    private static let ownedFields = [
        Field(name: "name", content: .scalar), Field(name: "owner", content: .required(.node)),
        Field(name: "keeper", content: .optional(.owned)),
    ]
    private static let framedFields = [Field(name: "picture", content: .required(.caption))]
    private static let captionFields = [
        Field(name: "text", content: .scalar), Field(name: "subject", content: .required(.node)),
    ]
    private static let noteFields = [
        Field(name: "text", content: .scalar), Field(name: "author", content: .optional(.node)),
        Field(name: "parts", content: .array(.note)),
    ]
}

/// A kind as a Swift type, because a read keeps decoded records by type.
package protocol TreeType: Sendable {
    static var kind: TreeKind { get }
}

package enum TreeTypes {
    package enum Node: TreeType { package static var kind: TreeKind { .node } }
    package enum Summary: TreeType { package static var kind: TreeKind { .summary } }
    package enum Owned: TreeType { package static var kind: TreeKind { .owned } }
    package enum Framed: TreeType { package static var kind: TreeKind { .framed } }
    package enum Caption: TreeType { package static var kind: TreeKind { .caption } }
    package enum Note: TreeType { package static var kind: TreeKind { .note } }
}

/// A tree model that is read and written as one certain kind.
///
/// `TypedTree<TreeTypes.Summary>` reads the summary of a record, whichever kind wrote it.
package struct TypedTree<Type: TreeType>: NormalizedModel, Hashable {
    package let tree: TreeModel

    package init(_ tree: TreeModel) {
        precondition(tree.kind == Type.kind, "a \(tree.kind) is no \(Type.kind)")
        self.tree = tree
    }

    package var modelIdentifier: String? { tree.identifier }
    package var projectionIdentifier: String { Type.kind.rawValue }

    package func encode(to encoder: inout RecordEncoder) throws { try tree.encode(to: &encoder) }

    package init(from decoder: inout RecordDecoder) throws {
        tree = try TreeModel(kind: Type.kind, from: &decoder)
    }
}
