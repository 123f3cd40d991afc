#if Macros
import SwiftSyntax

/// What a type's own `CodingKeys` say about stored names, so that its records are those of its
/// `Codable` conformance.
struct CodingKeysTable {
    private let names: [String: String]

    /// Nil when there is no such enum.
    init?(named name: String, in members: MemberBlockItemListSyntax) {
        let found = members.lazy.compactMap { $0.decl.as(EnumDeclSyntax.self) }.first {
            $0.name.text == name
        }
        guard let found else { return nil }
        var names: [String: String] = [:]
        for item in found.memberBlock.members {
            for element in item.decl.as(EnumCaseDeclSyntax.self)?.elements ?? [] {
                let key = element.name.bareText
                names[key] = element.rawValue?.value.literalText ?? key
            }
        }
        self.names = names
    }

    /// The stored name of a member; nil when it is left out.
    func storedName(of member: String) -> String? { names[member] }
}

extension TokenSyntax {
    /// The name without backticks.
    var bareText: String { identifier?.name ?? text }
}
#endif
