#if Macros
import SwiftSyntax
import SwiftSyntaxBuilder

/// The code that a declaration without problems becomes; each generated thing has a file.
///
/// Members are always spoken of as `self.name`, so that a parameter of the generated functions can
/// have any name; the types of this package are named with their modules, because the model may
/// have types of the same names in it.
struct Rendering {
    let model: ModelDeclaration

    init(_ model: ModelDeclaration) { self.model = model }

    static let models = "EspalierModels.ModelMembers"
    static let transform = "(any EspalierModels.Model) -> (any EspalierModels.Model)?"
    static let visit = "(any EspalierModels.Model) -> Swift.Void"

    /// What stands in the type itself.
    var members: [DeclSyntax] {
        let shared = [modelIdentifier, projectionIdentifier, map, forEach, equality, hash]
            .compactMap(\.self)
        switch model.kind {
        case .structure:
            return shared + [merge, storedValue, encode, builder, copy].compactMap(\.self)
        case .finalClass:
            return shared
                + [
                    merge, storedValue, encode, memberwise, decode, buildingInitializer, builder,
                    copy,
                ].compactMap(
                    \.self)
        case .enumeration: return shared + [encode, decode].compactMap(\.self)
        case .unsuitable: return []
        }
    }

    /// The conformances, and a struct's initialisers, which in the struct itself would cost it its
    /// memberwise one.
    func extensions(of type: String, conformingTo protocols: [TypeSyntax]) throws
        -> [ExtensionDeclSyntax]
    {
        let requested = Set(
            protocols.compactMap {
                $0.trimmedDescription.split(separator: ".").last.map(String.init)
            })
        let offered = [
            ("NormalizedModel", "EspalierModels"), ("Model", "EspalierModels"),
            ("ProjectedModel", "EspalierModels"),
            ("Hashable", "Swift"),
        ]
        let conformances = offered.filter {
            requested.contains($0.0) && ($0.0 != "ProjectedModel" || isBuilt)
        }
        .map { "\($0.1).\($0.0)" }
        let initializers =
            model.kind == .structure ? [decode, buildingInitializer].compactMap(\.self) : []
        guard !conformances.isEmpty || !initializers.isEmpty else { return [] }
        let clause = conformances.isEmpty ? "" : ": " + conformances.joined(separator: ", ")
        let body = initializers.map(\.description).joined(separator: "\n\n")
        return [
            try ExtensionDeclSyntax(
                "nonisolated extension \(raw: type)\(raw: clause) {\n\(raw: body)\n}")
        ]
    }

    /// Whether the type is made by a builder: every type but enums.
    var isBuilt: Bool { model.kind != .enumeration }

    /// `Builder`, unless that is the model itself, a type of its own, or of one of its members.
    var builderName: String {
        let isTaken =
            model.name == "Builder" || model.own.contains(.builder)
            || model.members.contains { $0.type?.mentions("Builder") == true }
        return isTaken ? "NormalizedBuilder" : "Builder"
    }

    // MARK: Text

    func declaration(_ signature: String, access: AccessLevel? = nil, _ lines: [String])
        -> DeclSyntax
    {
        "\(raw: Self.block((access ?? model.access).modifier + "nonisolated " + signature, lines))"
    }

    static func block(_ head: String, _ lines: [String]) -> String {
        "\(head) {\n\(lines.map(indented).joined(separator: "\n"))\n}"
    }

    static func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "    " + $0 }.joined(separator: "\n")
    }

    /// A string literal of any text.
    static func quoted(_ text: String) -> String {
        StringLiteralExprSyntax(content: text).description
    }
}
#endif
