#if Macros
import SwiftSyntax

/// A declaration with `@Normalized` as plain values, with the syntax nodes that diagnostics need.
struct ModelDeclaration {
    enum Kind {
        case structure, finalClass, enumeration
        /// A class that is not final, an actor, a protocol or an extension.
        case unsuitable
    }

    let kind: Kind
    /// The name of the type without the names of the types around it.
    let name: String
    let access: AccessLevel
    let arguments: NormalizedArguments
    let attribute: AttributeSyntax
    let parameters: [GenericParameter]
    let isGeneric: Bool
    /// Whether the type of a member may depend on a generic parameter of this type or of a type
    /// around it: by the parameter's name, by an associated type or by a type alias. True in every
    /// extension, because the syntax does not show whether the extended type is generic.
    let mayUseGenericParameters: Bool
    /// Whether a type around this one is generic. The runtime's name of a nested type does not have
    /// the arguments of the outer type: the name of `Page<Int>.Row` is `Row`.
    let isInGeneric: Bool
    let isNested: Bool
    /// Whether an extension without an access modifier is around this type.
    let isInExtensionWithoutAccess: Bool
    let members: [Member]
    let cases: [EnumCase]
    let own: Set<OwnDeclaration>
    /// The property `id`, stored or computed.
    let id: PatternBindingSyntax?
    /// The property `modelIdentifier`.
    let modelIdentifier: PatternBindingSyntax?
    let node: any DeclGroupSyntax
    /// Returns where a part of the declaration stands; nil if that is not known.
    let location: (Syntax) -> SourceLine?

    init(
        _ declaration: some DeclGroupSyntax, attribute: AttributeSyntax, lexicalContext: [Syntax],
        location: @escaping (Syntax) -> SourceLine? = { _ in nil }
    ) {
        self.location = location
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
        mayUseGenericParameters =
            !parameters.isEmpty || lexicalContext.contains { $0.is(ExtensionDeclSyntax.self) }
        isInGeneric = lexicalContext.contains { $0.isGeneric }
        isNested = !lexicalContext.isEmpty
        isInExtensionWithoutAccess = lexicalContext.contains { outer in
            outer.as(ExtensionDeclSyntax.self).map { AccessLevel($0.modifiers) == nil } == true
        }
        members = variables.flatMap { Member.all(in: $0, keys: keys) }
        cases = items.compactMap { $0.decl.as(EnumCaseDeclSyntax.self) }
            .flatMap { EnumCase.all(in: $0, keys: keys, members: items) }
        own = OwnDeclaration.all(in: items, of: OwnType(declaration, in: lexicalContext))
        let bindings = variables.filter { !$0.isTypeProperty }.flatMap(\.bindings)
        func binding(_ name: String) -> PatternBindingSyntax? {
            bindings.first {
                $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareText == name
            }
        }
        id = binding("id")
        modelIdentifier = binding("modelIdentifier")
        node = declaration
    }

    /// Whether the type is `@unchecked Sendable`, so that its members need not be `Sendable`.
    var isUnchecked: Bool {
        node.inheritanceClause?.inheritedTypes.contains {
            let words = $0.type.trimmedDescription.split(whereSeparator: { " .".contains($0) })
            return words.first == "@unchecked" && words.last == "Sendable"
        } == true
    }

    /// The members that the generated code compares, copies and visits.
    var includedMembers: [Member] { members.filter { !$0.isIgnored } }

    var storedMembers: [Member] { includedMembers.filter { $0.storedName != nil } }

    /// The type of `id`, if the identifier follows from it and other code may name the type. An
    /// `id` with less access than the model may be of a type with less access.
    var typeOfID: String? {
        guard let id, arguments.identifierPath == nil, !own.contains(.modelIdentifier) else {
            return nil
        }
        let member = members.first { $0.bareName == "id" }
        let modifiers = id.parent?.parent?.as(VariableDeclSyntax.self)?.modifiers
        let level = modifiers.flatMap(AccessLevel.init) ?? .internal
        guard let type = member?.type ?? id.typeAnnotation?.type, !type.isOptional,
            !type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self),
            !type.is(SomeOrAnyTypeSyntax.self), level >= access
        else { return nil }
        return type.trimmedDescription
    }

    /// Returns the stored name of a property; nil if there is no stored property of the name.
    func storedName(ofProperty name: String) -> String? {
        storedMembers.first { $0.bareName == name }?.storedName
    }

    /// Whether the type has an identifier, so that it gets a record of its own.
    var isNode: Bool {
        own.contains(.modelIdentifier) || arguments.identifier != nil || own.contains(.identifier)
    }

    /// Whether a property is the identifier of the model.
    func isIdentifier(_ member: Member) -> Bool {
        if let path = arguments.identifierPath { return path == [member.bareName] }
        if own.contains(.modelIdentifier) { return member.bareName == "modelIdentifier" }
        return member.bareName == "id"
    }

    /// Whether the type has a builder. An enum has none.
    var hasBuilder: Bool { kind != .enumeration }

    /// The access level of `init(_ builder:)`.
    ///
    /// An extension without a modifier does not tell the access level of the type it extends. A
    /// public type in an extension of an internal type has an internal builder, and so its
    /// initializer must not be public.
    var builderInitializerAccess: AccessLevel {
        isInExtensionWithoutAccess ? min(access, .internal) : access
    }

    /// Returns the effective access level of `declaration`.
    ///
    /// A type in `public extension Feed { ... }` is public without a modifier of its own. A public
    /// type in an internal type is internal, and the compiler holds extensions of it to that.
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
            else { return access }
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
    /// Whether the node declares a generic type, or extends a type that must be generic because the
    /// extension has a conformance requirement.
    fileprivate var isGeneric: Bool {
        if let requirements = self.as(ExtensionDeclSyntax.self)?.genericWhereClause?.requirements {
            return requirements.contains { $0.requirement.is(ConformanceRequirementSyntax.self) }
        }
        return asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
    }
}

/// The access level that the modifiers of a declaration give it.
enum AccessLevel: Int, Comparable, CaseIterable {
    case `private`, `fileprivate`, `internal`, package, `public`

    /// Returns nil if there is no access modifier.
    init?(_ modifiers: DeclModifierListSyntax) {
        for modifier in modifiers where modifier.detail == nil {
            let name = modifier.name.text == "open" ? "public" : modifier.name.text
            guard let level = Self.allCases.first(where: { "\($0)" == name }) else { continue }
            self = level
            return
        }
        return nil
    }

    static func < (a: AccessLevel, b: AccessLevel) -> Bool { a.rawValue < b.rawValue }

    /// The modifier of a generated member of a type with this access level. A member of a private
    /// type is `fileprivate`, since other declarations of the file use it.
    var modifier: String {
        switch self {
        case .private, .fileprivate: "fileprivate "
        case .internal: ""
        case .package: "package "
        case .public: "public "
        }
    }
}

/// A generic parameter that the types of members may mention.
struct GenericParameter {
    let name: String
    /// Nil for a parameter of an outer type, which a fix-it can't reach.
    let node: GenericParameterSyntax?
    /// The constraints from the parameter list and from the `where` clause.
    let constraints: [TypeSyntax]

    /// Returns the parameters of `declaration` and of the types around it.
    static func all(of declaration: some SyntaxProtocol, in lexicalContext: [Syntax])
        -> [GenericParameter]
    {
        parameters(of: Syntax(declaration), isOwn: true)
            + lexicalContext.flatMap { parameters(of: $0, isOwn: false) }
    }

    private static func parameters(of declaration: Syntax, isOwn: Bool) -> [GenericParameter] {
        guard let declaration = declaration.asProtocol((any WithGenericParametersSyntax).self),
            let clause = declaration.genericParameterClause
        else { return [] }
        let requirements = (declaration.genericWhereClause?.requirements).map(Array.init) ?? []
        return clause.parameters.map { parameter in
            let name = parameter.name.text
            let required = requirements.compactMap { requirement -> TypeSyntax? in
                switch requirement.requirement {
                case .conformanceRequirement(let requirement)
                where requirement.leftType.trimmedDescription == name:
                    requirement.rightType
                case .sameTypeRequirement(let requirement)
                where requirement.leftType.trimmedDescription == name:
                    TypeSyntax("\(raw: requirement.rightType.trimmedDescription)")
                default: nil
                }
            }
            return GenericParameter(
                name: name, node: isOwn ? parameter : nil,
                constraints: (parameter.inheritedType.map { [$0] } ?? []) + required)
        }
    }
}
#endif
