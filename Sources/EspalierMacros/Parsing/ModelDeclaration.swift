#if Macros
import SwiftSyntax

/// A type with `@Normalized`, read: plain values, and the nodes that diagnostics point to.
struct ModelDeclaration {
    enum Kind {
        case structure, finalClass, enumeration
        /// A class that is not final, an actor, a protocol, an extension.
        case unsuitable
    }

    let kind: Kind
    /// The innermost name.
    let name: String
    let access: AccessLevel
    let arguments: NormalizedArguments
    let attribute: AttributeSyntax
    let parameters: [GenericParameter]
    let isGeneric: Bool
    /// Whether a member's type may be, or mention, what the type or one around it is generic over:
    /// by a parameter's name, by an associated type, by an alias. Of an extension the syntax
    /// doesn't show what it extends.
    let mayMentionParameters: Bool
    /// Whether a type around it is generic: of that the runtime's name, `Row` for `Page<Int>.Row`,
    /// says nothing.
    let isInGeneric: Bool
    /// Whether it stands in another type.
    let isNested: Bool
    /// Whether an extension without an access modifier is around it.
    let isInSilentExtension: Bool
    let members: [Member]
    let cases: [EnumCase]
    let own: OwnDeclarations
    /// The property `id`, stored or computed.
    let id: PatternBindingSyntax?
    /// The property `modelIdentifier`.
    let modelIdentifier: PatternBindingSyntax?
    let node: any DeclGroupSyntax

    init(_ declaration: some DeclGroupSyntax, attribute: AttributeSyntax, lexicalContext: [Syntax])
    {
        let items = declaration.memberBlock.members
        let variables = items.compactMap { $0.decl.as(VariableDeclSyntax.self) }
        let keys = CodingKeysTable(named: "CodingKeys", in: items)
        kind = Kind(declaration)
        name = declaration.asProtocol((any NamedDeclSyntax).self)?.name.text ?? ""
        access = Self.access(of: declaration, in: lexicalContext)
        arguments = NormalizedArguments(attribute)
        self.attribute = attribute
        parameters = GenericParameter.all(of: declaration, in: lexicalContext)
        isGeneric = Syntax(declaration).isGeneric
        mayMentionParameters =
            !parameters.isEmpty || lexicalContext.contains { $0.is(ExtensionDeclSyntax.self) }
        isInGeneric = lexicalContext.contains { $0.isGeneric }
        isNested = !lexicalContext.isEmpty
        isInSilentExtension = lexicalContext.contains { outer in
            outer.as(ExtensionDeclSyntax.self).map { AccessLevel($0.modifiers) == nil } == true
        }
        members = variables.flatMap { Member.all(in: $0, keys: keys) }
        cases = items.compactMap { $0.decl.as(EnumCaseDeclSyntax.self) }
            .flatMap { EnumCase.all(in: $0, keys: keys, members: items) }
        own = OwnDeclarations(items, of: OwnType(declaration, in: lexicalContext))
        let bindings = variables.filter { !$0.isOfTheType }.flatMap(\.bindings)
        func binding(_ name: String) -> PatternBindingSyntax? {
            bindings.first {
                $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareText == name
            }
        }
        id = binding("id")
        modelIdentifier = binding("modelIdentifier")
        node = declaration
    }

    /// What is compared, copied and visited: all that no wrapper keeps for itself.
    var openMembers: [Member] { members.filter { !$0.isLeftAlone } }

    var storedMembers: [Member] { openMembers.filter { $0.storedName != nil } }

    func type(of name: String) -> TypeSyntax? { members.first { $0.name == name }?.type }

    /// What `init(_ builder:)` may be: a type in an extension that doesn't say how far the extended
    /// type is seen may be public in one that is internal, and so may not be its builder.
    var buildingAccess: AccessLevel { isInSilentExtension ? min(access, .internal) : access }

    // A type in `public extension Feed { ... }` is public without a modifier of its own, and one in
    // an internal type is internal with one: an extension of it is held to that.
    private static func access(of declaration: some DeclGroupSyntax, in lexicalContext: [Syntax])
        -> AccessLevel
    {
        let own =
            AccessLevel(declaration.modifiers)
            ?? lexicalContext.first?.as(ExtensionDeclSyntax.self).flatMap {
                AccessLevel($0.modifiers)
            } ?? .internal
        return lexicalContext.reduce(own) { access, outer in
            guard let type = outer.asProtocol((any DeclGroupSyntax).self),
                !type.is(ExtensionDeclSyntax.self)
            else {
                return access
            }
            return min(access, AccessLevel(type.modifiers) ?? .internal)
        }
    }
}

extension ModelDeclaration.Kind {
    fileprivate init(_ declaration: some DeclGroupSyntax) {
        if declaration.is(StructDeclSyntax.self) {
            self = .structure
        } else if declaration.is(EnumDeclSyntax.self) {
            self = .enumeration
        } else if declaration.is(ClassDeclSyntax.self),
            declaration.modifiers.contains(where: { $0.name.text == "final" })
        {
            self = .finalClass
        } else {
            self = .unsuitable
        }
    }
}

extension Syntax {
    /// Whether it declares a generic type, or extends what can be no other: one with conditions.
    fileprivate var isGeneric: Bool {
        if let requirements = self.as(ExtensionDeclSyntax.self)?.genericWhereClause?.requirements {
            return requirements.contains { $0.requirement.is(ConformanceRequirementSyntax.self) }
        }
        return asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
    }
}
#endif
