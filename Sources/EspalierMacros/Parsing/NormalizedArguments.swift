#if Macros
import SwiftSyntax

/// The arguments of `@Normalized`.
struct NormalizedArguments {
    /// `type: "person"`.
    let type: ExprSyntax?
    /// `identifier: \.urn`.
    let identifier: ExprSyntax?

    init(_ attribute: AttributeSyntax) {
        let arguments = attribute.arguments?.as(LabeledExprListSyntax.self)
        type = arguments?.first { $0.label?.text == "type" }?.expression
        identifier = arguments?.first { $0.label?.text == "identifier" }?.expression
    }

    /// The members that the key path goes along; nil for what is no key path of members.
    var identifierPath: [String]? {
        guard let components = identifier?.as(KeyPathExprSyntax.self)?.components,
            !components.isEmpty
        else {
            return nil
        }
        let names = components.map {
            $0.component.as(KeyPathPropertyComponentSyntax.self)?.declName.baseName.text
        }
        guard names.allSatisfy({ $0 != nil }) else { return nil }
        return names.compactMap(\.self)
    }
}
#endif
