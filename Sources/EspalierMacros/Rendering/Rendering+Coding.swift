#if Macros
import SwiftSyntax

extension Rendering {
    static let encoderSignature =
        "func encode(to encoder: inout EspalierRecords.RecordEncoder) throws"
    static let decoderSignature = "init(from decoder: inout EspalierRecords.RecordDecoder) throws"

    var encode: DeclSyntax? {
        guard !model.own.contains(.encode) else { return nil }
        return declaration(Self.encoderSignature, isBuilt ? encoding : caseEncoding)
    }

    var decode: DeclSyntax? {
        guard !model.own.contains(.decode) else { return nil }
        return declaration(Self.decoderSignature, isBuilt ? decoding : caseDecoding)
    }

    private var encoding: [String] {
        expectation("encoder")
            + model.storedMembers.map { member in
                "try encoder.encode(\(member.form.wrapping("self.\(member.name)")), forKey: \(Self.key(member)))"
            }
    }

    /// A struct is read into constants first: where its initialiser sets one property after the
    /// other and may throw in between, the compiler copies the whole value at its end.
    private var decoding: [String] {
        guard model.kind == .structure else {
            return expectation("decoder")
                + model.storedMembers.map { "self.\($0.name) = \(decoded($0))" }
        }
        let members = model.storedMembers.enumerated()
        return expectation("decoder")
            + members.map {
                "let value\($0) = try \(builderName).\(Self.reading($1, at: $0))(from: &decoder)"
            }
            + members.map { "self.\($1.name) = value\($0)" }
    }

    private func expectation(_ coder: String) -> [String] {
        guard !model.storedMembers.isEmpty else { return [] }
        let fields = model.storedMembers.map(Self.key).joined(separator: ", ")
        return [
            "\(coder).expect(\(model.kind == .finalClass ? model.name : "Self").self, fields: [\(fields)])"
        ]
    }

    // MARK: Reading where names mean the same

    /// Functions of the builder that read single members of a struct: in the extension that its
    /// initialiser stands in, the names of types may mean nothing.
    var readings: [String] {
        guard model.kind == .structure, !model.own.contains(.decode) else { return [] }
        return model.storedMembers.enumerated().map { index, member in
            Self.block(
                """
                fileprivate static func \(Self.reading(member, at: index))(from decoder: inout EspalierRecords.RecordDecoder) throws \
                -> \(typeInBuilder(member))
                """, ["return \(decoded(member))"])
        }
    }

    private static func reading(_ member: Member, at place: Int) -> String {
        // Between backticks, nearly everything is a name.
        let isWord = member.bareName.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        return isWord ? "read_\(member.bareName)" : "reading\(place)"
    }

    private func decoded(_ member: Member) -> String {
        let type = TypeSyntax("\(raw: typeInBuilder(member))")
        let form = StoredForm(type)
        let key = Self.key(member)
        // A class's initialiser has no use of `Self` either, before everything is set.
        let value = member.attribute.defaultExpression?.replacingSelf(with: model.name)
        return switch (form.isErased, value) {
        case (false, nil): "try decoder.decode(forKey: \(key))"
        case (false, let value?): "try decoder.decode(forKey: \(key), default: \(value))"
        case (true, nil): form.unwrapping("(try decoder.decode(\(form.type).self, forKey: \(key)))")
        case (true, let value?):
            form.unwrapping(
                "(try decoder.decode(forKey: \(key), default: "
                    + form.wrapping("(\(value) as \(type.unforced.trimmedDescription))") + "))")
        }
    }

    static func key(_ member: Member) -> String { quoted(member.storedName ?? member.bareName) }
}
#endif
