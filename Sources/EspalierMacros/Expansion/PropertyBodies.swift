#if Macros
import SwiftSyntax

/// Writes the bodies of the generated functions for a struct or a class, member by member.
struct PropertyBodies: FunctionBodies {
    private let model: ModelDeclaration

    init(_ model: ModelDeclaration) { self.model = model }

    // MARK: Children

    var map: [String] {
        let members = modelMembers
        guard !members.isEmpty else { return ["return self"] }
        let bindings = members.enumerated().map { index, member in
            "let mapped\(index) = \(model.mapCall(member.form.wrapping("self.\(member.name)")))"
        }.joined(separator: ",\n    ")
        let assignments = members.enumerated().map { index, member in
            "builder.\(member.name) = \(member.form.unwrapping("mapped\(index)"))"
        }
        return [
            "guard \(bindings)\nelse {\n    return nil\n}",
            "var builder = \(model.builderName)(self)",
        ] + assignments + ["return \(model.name)(builder)"]
    }

    var forEach: [String] {
        modelMembers.map { model.forEachCall($0.form.wrapping("self.\($0.name)")) }
    }

    /// The members that may hold models.
    private var modelMembers: [Member] { model.includedMembers.filter { !$0.isScalar } }

    // MARK: Equality

    var equality: [String] {
        let identity = model.kind == .finalClass ? ["if a === b {\n    return true\n}"] : []
        return identity
            + model.includedMembers.map { member in
                Code.returnIfUnequal(
                    member.form.wrapping("a.\(member.name)"),
                    member.form.wrapping("b.\(member.name)"), isScalar: member.isScalar)
            } + ["return true"]
    }

    var hash: [String] {
        model.includedMembers.map { member in
            Code.hash(member.form.wrapping("self.\(member.name)"), isScalar: member.isScalar)
        }
    }

    // MARK: Records

    var encode: [String] {
        expectation("encoder")
            + model.storedMembers.map { member in
                let value = member.form.wrapping("self.\(member.name)")
                return Code.located(
                    "try encoder.encode(\(value), forKey: \(member.key))",
                    at: model.location(Syntax(member.binding)))
            }
    }

    var sameEncoding: [String] {
        model.storedMembers.map { member in
            Code.returnUnlessSameEncoding(
                member.form.wrapping("self.\(member.name)"),
                member.form.wrapping("other.\(member.name)"))
        } + ["return true"]
    }

    /// Reads a struct into constants first. If its initializer set one property after the other and
    /// could throw in between, the compiler would copy the whole value at the end.
    var decode: [String] {
        guard model.kind == .structure else {
            return expectation("decoder")
                + model.storedMembers.map { member in
                    Code.located(
                        "self.\(member.name) = \(decoded(member))",
                        at: model.location(Syntax(member.binding)))
                }
        }
        let members = model.storedMembers.enumerated()
        return expectation("decoder")
            + members.map { index, member in
                let function = Self.readFunction(member, at: index)
                return "let value\(index) = try \(model.builderName).\(function)(from: &decoder)"
            } + members.map { index, member in "self.\(member.name) = value\(index)" }
    }

    private func expectation(_ coder: String) -> [String] {
        guard !model.storedMembers.isEmpty else { return [] }
        let fields = model.storedMembers.map(\.key).joined(separator: ", ")
        let type = model.kind == .finalClass ? model.name : "Self"
        return ["\(coder).expect(\(type).self, fields: [\(fields)])"]
    }

    /// Functions of the builder that each read one member of a struct.
    ///
    /// The initializer of a struct stands in an extension, where the names of the members' types
    /// may not be visible. The builder stands in the struct.
    var readFunctions: [String] {
        guard model.kind == .structure, !model.own.contains(.decode) else { return [] }
        return model.storedMembers.enumerated().map { index, member in
            Code.block(
                """
                fileprivate static func \(Self.readFunction(member, at: index))\
                (from decoder: inout EspalierRecords.RecordDecoder) throws \
                -> \(model.typeInBuilder(of: member))
                """,
                [
                    Code.located(
                        "return \(decoded(member))", at: model.location(Syntax(member.binding)))
                ])
        }
    }

    /// Returns `read_` and the name of the member. The name may be no identifier without backticks,
    /// and is then replaced by the position.
    private static func readFunction(_ member: Member, at position: Int) -> String {
        let isWord = member.bareName.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        return isWord ? "read_\(member.bareName)" : "reading\(position)"
    }

    private func decoded(_ member: Member) -> String {
        let type = TypeSyntax("\(raw: model.typeInBuilder(of: member))")
        // `Self` would be the builder here. In an initializer of a class it can't be used before
        // all properties are set.
        let value = member.attribute.defaultExpression?.replacingSelf(with: model.name)
        return StoredForm(type).decoding(
            "try decoder.decode", key: member.key, default: value, of: type)
    }
}

extension Member {
    /// The stored name as a literal.
    var key: String { Code.literal(storedName ?? bareName) }
}
#endif
