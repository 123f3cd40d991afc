/// The types of the dynamic test model: between them every place in which a child can stand.
package enum TreeKind: String, CaseIterable, Sendable, Hashable {
    /// The main type: a child in every position that can be left out.
    case node
    /// Another projection of the records of `node`: shares `title`, adds the rest.
    case summary
    /// Can't be without its owner.
    case owned
    /// Can't be without an inline value that can't be without its subject.
    case framed
    /// Inline, with a required reference.
    case caption
    /// Inline, with references and inline values that can be left out.
    case note

    package enum Content: Sendable, Hashable {
        case scalar
        case optionalScalar
        case optional(TreeKind)
        case required(TreeKind)
        case array(TreeKind)
        case nested(TreeKind)
        case dictionary(TreeKind)

        /// The kind of the children, for fields that have any.
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

    /// Where every kind encodes its identifier, before all other fields: a model is not told the
    /// identifier of its record.
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
