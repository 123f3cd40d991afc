#if Macros
import SwiftSyntax
import SwiftSyntaxBuilder

/// Generates the code of a declaration without problems.
///
/// This type decides which declarations there are, and writes their heads. ``PropertyBodies``
/// writes the bodies for structs and classes, ``CaseBodies`` those for enums, and
/// ``BuilderExpansion`` all that only types with a builder have.
///
/// The generated code names members as `self.name`, so that a member may have the name of a
/// parameter of the generated functions. It names the types of this package with their modules,
/// because the user's module may have types of the same names.
struct ModelExpansion {
    private let model: ModelDeclaration
    private let bodies: any FunctionBodies
    private let builder: BuilderExpansion?
    private let coding: CodableExpansion?

    init(_ model: ModelDeclaration) {
        self.model = model
        bodies = model.hasBuilder ? PropertyBodies(model) : CaseBodies(model)
        builder = model.hasBuilder ? BuilderExpansion(model) : nil
        coding = CodableExpansion(model)
    }

    /// The declarations that stand in the type itself.
    var members: [String] {
        let shared = [
            modelIdentifier, identifierPrefix, identifierOfID, projectionIdentifier, writePolicy,
            maxAge,
            mergeRules, map, forEach, equality, hash, sameEncoding,
        ]
        let own: [String?] =
            switch model.kind {
            case .structure:
                [builder?.merge, builder?.storedValue, encode, builder?.type, builder?.copy]
            case .finalClass:
                [
                    builder?.merge, builder?.storedValue, encode, builder?.memberwiseInitializer,
                    decode, builder?.initializer, builder?.type, builder?.copy,
                ]
            case .enumeration: [encode, decode]
            case .unsuitable: []
            }
        guard model.kind != .unsuitable else { return [] }
        return (shared + own).compactMap(\.self) + (coding?.members ?? [])
    }

    /// Returns the extension with the conformances and with the initializers of a struct, which
    /// would replace the memberwise initializer if they stood in the struct.
    func extensions(
        of type: String, conformingTo protocols: [TypeSyntax], availability: [AttributeSyntax]
    ) -> [ExtensionDeclSyntax] {
        let requested = Set(
            protocols.compactMap {
                $0.trimmedDescription.split(separator: ".").last.map(String.init)
            })
        let offered = [
            ("NormalizedModel", "EspalierModels"), ("Model", "EspalierModels"),
            ("ProjectedModel", "EspalierModels"), ("NodeModel", "EspalierRecords"),
            ("Hashable", "Swift"), ("Encodable", "Swift"), ("Decodable", "Swift"),
        ]
        let conformances = offered.filter { name, _ in
            switch name {
            case "ProjectedModel": requested.contains(name) && model.hasBuilder
            case "NodeModel": requested.contains(name) && model.typeOfID != nil
            case "Encodable", "Decodable": requested.contains(name) && coding != nil
            default: requested.contains(name)
            }
        }.map { name, module in "\(module).\(name)" }
        let initializers =
            model.kind == .structure
            ? [decode, builder?.initializer, coding?.initializerOfStruct].compactMap(\.self) : []
        guard !conformances.isEmpty || !initializers.isEmpty else { return [] }
        let clause = conformances.isEmpty ? "" : ": " + conformances.joined(separator: ", ")
        return [
            ExtensionDeclSyntax(
                availability: availability, nonisolatedHead: type + clause,
                unparsedMembers: initializers.joined(separator: "\n\n"))
        ]
    }

    // MARK: Identifiers

    private var modelIdentifier: String? {
        model.declaration(
            unless: .modelIdentifier, "var modelIdentifier: Swift.String?",
            [Code.located(identifierExpression, at: lineOfIdentifier)])
    }

    /// Where the identifier, or the property that it follows from, is declared.
    private var lineOfIdentifier: SourceLine? {
        (model.arguments.identifier.map { Syntax($0) } ?? model.id.map { Syntax($0) })
            .flatMap(model.location)
    }

    private var identifierPrefix: String? {
        model.typeOfID.flatMap { _ in
            model.declaration(
                unless: .identifierPrefix, "static var identifierPrefix: Swift.String",
                [prefixExpression])
        }
    }

    private var identifierOfID: String? {
        model.typeOfID.flatMap { type in
            model.declaration(
                unless: .identifierOfID, "static func modelIdentifier(id: \(type)) -> Swift.String",
                [
                    Code.located(
                        "\(prefixExpression) + \(Code.modelMembers).identifier(of: id)",
                        at: lineOfIdentifier)
                ])
        }
    }

    /// The name of the type as a literal, which is faster than asking the runtime. Only the runtime
    /// knows the name of a generic type with its arguments.
    private var projectionIdentifier: String? {
        guard !model.isGeneric else { return nil }
        return model.declaration(
            unless: .projectionIdentifier, "var projectionIdentifier: Swift.String",
            [Code.literal(model.name.filter { $0 != "`" })])
    }

    private var writePolicy: String? {
        model.arguments.policy.map { policy in
            model.declaration(
                "static var writePolicy: EspalierRecords.WritePolicy", [policy.trimmedDescription])
        }
    }

    private var maxAge: String? {
        model.arguments.maxAge.map { maxAge in
            model.declaration(
                "static var maxAge: Swift.Duration?", [maxAge.trimmedDescription])
        }
    }

    /// The rules of the fields. A generic type can't store them, so that it makes them anew.
    private var mergeRules: String? {
        let rules = model.storedMembers.flatMap { member in
            member.attribute.merged.map { merged in
                "\(member.key): \(merged.expression(model.storedName(ofProperty:))),"
            }
        }
        guard !rules.isEmpty else { return nil }
        let type =
            "static \(model.mayUseGenericParameters ? "var" : "let") mergeRules: "
            + "EspalierRecords.MergeRules"
        let table = "[\n\(rules.map(Code.indented).joined(separator: "\n"))\n]"
        if model.mayUseGenericParameters { return model.declaration(type, [table]) }
        return "\(model.access.modifier)nonisolated \(type) = \(table)"
    }

    private var identifierExpression: String {
        if let path = model.arguments.identifierPath {
            // The overload for `String` would accept a `String!` and trap on nil.
            if path.count == 1, let type = model.members.first(where: { $0.name == path[0] })?.type,
                type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
            {
                let unforced = type.unforced.trimmedDescription
                return "\(Code.modelMembers).identifier(of: self.\(path[0]) as \(unforced))"
            }
            return "\(Code.modelMembers).identifier(of: self.\(path.joined(separator: ".")))"
        }
        guard model.own.contains(.identifier) else { return "nil" }
        return "\(prefixExpression) + \(Code.modelMembers).identifier(of: self.id)"
    }

    /// What all identifiers of a type with an `id` begin with.
    private var prefixExpression: String {
        if let type = model.arguments.type?.literalText { return Code.literal(type + ":") }
        // `Page<Person>` and `Page<Message>` are two types, so the name is built at run time.
        if model.isGeneric { return "\(Code.modelMembers).typeName(of: Self.self) + \":\"" }
        return Code.literal(model.name.filter { $0 != "`" } + ":")
    }

    // MARK: Encoding

    /// Nil for a class, whose properties may change, and for a type that decides itself what it
    /// writes.
    private var sameEncoding: String? {
        guard model.kind != .finalClass,
            model.own.isDisjoint(with: [.encode, .encodeValue, .projectionIdentifier])
        else { return nil }
        let identifiers =
            isIdentifierStored
            ? []
            : [Code.returnUnlessSameEncoding("self.modelIdentifier", "other.modelIdentifier")]
        return model.declaration(
            unless: .sameEncoding, "func hasSameEncoding(as other: \(model.name)) -> Swift.Bool",
            identifiers + bodies.sameEncoding)
    }

    /// Whether values with the same stored properties have the same identifier.
    private var isIdentifierStored: Bool {
        guard !model.own.contains(.modelIdentifier) else { return false }
        var name = "id"
        if let path = model.arguments.identifierPath {
            guard path.count == 1 else { return false }
            name = path[0]
        } else if !model.own.contains(.identifier) {
            return true
        }
        // Any other type may give equal values different texts.
        let type = model.storedMembers.first { $0.name == name }?.type
        return type?.isScalar == true || type?.trimmedDescription == "UUID"
    }

    // MARK: Children

    private var map: String? {
        let transform = "(any EspalierModels.Model) -> (any EspalierModels.Model)?"
        return model.declaration(
            unless: .map, "func map(_ transform: \(transform)) -> \(model.name)?", bodies.map)
    }

    private var forEach: String? {
        let visit = "(any EspalierModels.Model) -> Swift.Void"
        return model.declaration(
            unless: .forEach, "func forEach(_ visit: \(visit))", bodies.forEach)
    }

    // MARK: Equality

    /// `==` under another name: if the macro generated an operator that the type defines too, the
    /// compiler would find both and use neither.
    private var equality: String? {
        let function = model.declaration(
            "static func isSame(_ a: \(model.name), _ b: \(model.name)) -> Swift.Bool",
            model.own.contains(.equality) ? ["return a == b"] : bodies.equality)
        return "@_implements(Swift.Equatable, ==(_:_:))\n\(function)"
    }

    /// Hashes nothing if the type defines `==`, because the macro does not know which properties
    /// that compares. It may not even compare the identifier.
    private var hash: String? {
        model.declaration(
            unless: .hash, "func hash(into hasher: inout Swift.Hasher)",
            model.own.contains(.equality) ? [] : bodies.hash)
    }

    // MARK: Records

    private var encode: String? {
        model.declaration(
            unless: .encode, "func encode(to encoder: inout EspalierRecords.RecordEncoder) throws",
            bodies.encode)
    }

    private var decode: String? {
        model.declaration(
            unless: .decode, "init(from decoder: inout EspalierRecords.RecordDecoder) throws",
            bodies.decode)
    }
}

/// Syntax that holds unparsed text. A macro must return syntax, and the plugin turns it into text
/// for the compiler, which parses it. Parsing it in the plugin, too, took longer than the rest of
/// the expansion, because SwiftPM does not optimise the plugin of a debug build.
extension DeclSyntax {
    /// Makes a declaration of its text.
    init(unparsed text: String) {
        self.init(MissingDeclSyntax(placeholder: .identifier(text)))
    }
}

extension ExtensionDeclSyntax {
    /// Makes an extension of the type and its conformances, and of the text of its members.
    ///
    /// - Parameter availability: The attributes of the extension.
    init(
        availability: [AttributeSyntax], nonisolatedHead head: String,
        unparsedMembers members: String
    ) {
        self.init(
            attributes: AttributeListSyntax(
                availability.map { .attribute($0.trimmed.with(\.trailingTrivia, .newline)) }),
            modifiers: [DeclModifierSyntax(name: .keyword(.nonisolated, trailingTrivia: .space))],
            extensionKeyword: .keyword(.extension, trailingTrivia: .space),
            extendedType: MissingTypeSyntax(placeholder: .identifier(head + " ")),
            memberBlock: MemberBlockSyntax(
                leftBrace: .leftBraceToken(trailingTrivia: .newline),
                members: [MemberBlockItemSyntax(decl: DeclSyntax(unparsed: members + "\n"))]))
    }
}

/// The bodies of the functions that every kind of model has, as lists of statements.
protocol FunctionBodies {
    var map: [String] { get }
    var forEach: [String] { get }
    var equality: [String] { get }
    var hash: [String] { get }
    var encode: [String] { get }
    var decode: [String] { get }
    /// Compares what `encode` writes.
    var sameEncoding: [String] { get }
}

extension ModelDeclaration {
    /// Returns a declaration with the access level of the model, unless `access` is given.
    func declaration(_ signature: String, access: AccessLevel? = nil, _ lines: [String])
        -> String
    {
        Code.block((access ?? self.access).modifier + "nonisolated " + signature, lines)
    }

    /// Returns a declaration, or nil if the type has its own.
    func declaration(
        unless own: OwnDeclaration, _ signature: String, _ lines: @autoclosure () -> [String]
    ) -> String? {
        self.own.contains(own) ? nil : declaration(signature, lines())
    }

    /// Returns a call of `ModelMembers.map`.
    ///
    /// The syntax does not tell what a constraint means, since `Model` may be a protocol of the
    /// user's module. Where a generic parameter may be involved, the value is examined at run time
    /// if the compiler does not know it for a model.
    func mapCall(_ value: String) -> String {
        let function = mayUseGenericParameters ? "mapDynamically" : "map"
        return "\(Code.modelMembers).\(function)(\(value), transform)"
    }

    /// Returns a call of `ModelMembers.forEach`.
    func forEachCall(_ value: String) -> String {
        let function = mayUseGenericParameters ? "forEachDynamically" : "forEach"
        return "\(Code.modelMembers).\(function)(\(value), visit)"
    }
}

/// A line of the user's source, as literals.
struct SourceLine {
    let file: String
    let line: String
}

/// Pieces of generated code.
enum Code {
    /// Returns code whose errors the compiler reports in a line of the user's source: that of the
    /// property or the associated value which causes them.
    static func located(_ text: String, at line: SourceLine?) -> String {
        guard let line else { return text }
        return """
            #sourceLocation(file: \(line.file), line: \(line.line))
            \(text)
            #sourceLocation()
            """
    }

    static let modelMembers = "EspalierModels.ModelMembers"

    static func block(_ head: String, _ lines: [String]) -> String {
        "\(head) {\n\(lines.map(indented).joined(separator: "\n"))\n}"
    }

    static func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "    " + $0 }.joined(separator: "\n")
    }

    /// Returns a string literal of any text.
    static func literal(_ text: String) -> String {
        StringLiteralExprSyntax(content: text).description
    }

    /// Returns a statement that returns false if two values differ.
    static func returnIfUnequal(_ a: String, _ b: String, isScalar: Bool) -> String {
        let condition = isScalar ? "\(a) == \(b)" : "\(modelMembers).areEqual(\(a), \(b))"
        return "guard \(condition) else {\n    return false\n}"
    }

    /// Returns a statement that returns false unless two values certainly have the same encoding.
    static func returnUnlessSameEncoding(_ a: String, _ b: String) -> String {
        let condition = "\(modelMembers).haveSameEncoding(\(a), \(b))"
        return "guard \(condition) else {\n    return false\n}"
    }

    static func hash(_ value: String, isScalar: Bool) -> String {
        isScalar
            ? "hasher.combine(\(value))" : "\(modelMembers).hash(\(value), into: &hasher)"
    }
}
#endif
