#if Macros
import SwiftSyntax

/// The same things for enums: a switch over the cases each.
extension Rendering {
    var caseMapping: [String] {
        let cases = nestingCases.map { enumCase in
            let arguments = enumCase.payloads.enumerated().map { index, payload in
                payload.labelling(
                    payload.type.isScalar ? "_\(index)" : payload.form.unwrapping("mapped\(index)"))
            }
            let bindings = nesting(in: enumCase).map { index, payload in
                "let mapped\(index) = \(mapped(payload.form.wrapping("_\(index)")))"
            }
            let lines = [
                "guard \(bindings.joined(separator: ",\n    "))\nelse {\n    return nil\n}",
                "return Self.\(enumCase.name)(\(arguments.joined(separator: ", ")))",
            ]
            return (Self.pattern(enumCase), lines)
        }
        return Self.switched(
            "self", cases, rest: cases.count < model.cases.count ? "return self" : nil)
    }

    var caseVisiting: [String] {
        guard !nestingCases.isEmpty else { return [] }
        let cases = nestingCases.map { enumCase in
            let lines = nesting(in: enumCase).map { index, payload in
                visited(payload.form.wrapping("_\(index)"))
            }
            return (Self.pattern(enumCase) { !enumCase.payloads[$0].type.isScalar }, lines)
        }
        return Self.switched("self", cases, rest: cases.count < model.cases.count ? "break" : nil)
    }

    var caseComparing: [String] {
        let cases = model.cases.map { enumCase in
            let lines = enumCase.payloads.enumerated().map { index, payload in
                let (a, b) = (
                    payload.form.wrapping("a\(index)"), payload.form.wrapping("b\(index)")
                )
                return Self.unequal(a, b, isScalar: payload.type.isScalar)
            }
            let pattern =
                "(\(Self.pattern(enumCase, prefix: "a")), \(Self.pattern(enumCase, prefix: "b")))"
            return (pattern, lines + ["return true"])
        }
        return Self.switched("(a, b)", cases, rest: cases.count > 1 ? "return false" : nil)
    }

    var caseHashing: [String] {
        let cases = model.cases.enumerated().map { place, enumCase in
            let lines = enumCase.payloads.enumerated().map { index, payload in
                Self.hashed(payload.form.wrapping("_\(index)"), isScalar: payload.type.isScalar)
            }
            return (Self.pattern(enumCase), ["hasher.combine(\(place))"] + lines)
        }
        return Self.switched("self", cases, rest: nil)
    }

    var caseEncoding: [String] {
        let cases = model.cases.map { enumCase in
            let lines = enumCase.payloads.enumerated().filter { $1.storedName != nil }.map {
                index, payload in
                "try fields.encode(\(payload.form.wrapping("_\(index)")), forKey: \(Self.key(payload)))"
            }
            let head = "try encoder.encodeCase(\(Self.key(enumCase)))"
            let body =
                lines.isEmpty
                ? " _ in " : " fields in\n\(lines.map(Self.indented).joined(separator: "\n"))\n"
            return (
                Self.pattern(enumCase) { enumCase.payloads[$0].storedName != nil },
                ["\(head) {\(body)}"]
            )
        }
        return Self.switched("self", cases, rest: nil)
    }

    var caseDecoding: [String] {
        let cases = model.cases.map { enumCase in
            let arguments = enumCase.payloads.map { $0.labelling(Self.decoded($0)) }.joined(
                separator: ", ")
            let value =
                "Self.\(enumCase.name)" + (enumCase.payloads.isEmpty ? "" : "(\(arguments))")
            let readsFields = enumCase.payloads.contains { $0.storedName != nil }
            let body = readsFields ? "fields in\n    try \(value)\n" : "_ in\n    \(value)\n"
            return (
                Self.key(enumCase),
                ["self = try decoder.decodeCase(\(Self.key(enumCase))) { \(body)}"]
            )
        }
        // An enum with an identifier shares its record with other types, which have fields of other
        // names there.
        let names = model.cases.map(Self.key).joined(separator: ", ")
        return ["let name = try decoder.caseName(among: [\(names)])"]
            + Self.switched("name", cases, rest: "throw decoder.unknownCase(name, of: Self.self)")
    }

    // MARK: Parts

    /// Those in which a model may stand.
    private var nestingCases: [EnumCase] {
        model.cases.filter { $0.payloads.contains { !$0.type.isScalar } }
    }

    private func nesting(in enumCase: EnumCase) -> [(Int, EnumCase.Payload)] {
        enumCase.payloads.enumerated().filter { !$1.type.isScalar }.map { ($0, $1) }
    }

    private static func switched(
        _ value: String, _ cases: [(pattern: String, lines: [String])], rest: String?
    ) -> [String] {
        guard !cases.isEmpty else { return [rest ?? "return self"] }
        let written = cases.map {
            "case \($0.pattern):\n\($0.lines.map(indented).joined(separator: "\n"))"
        }
        let all = written + (rest.map { ["default:\n    \($0)"] } ?? [])
        return ["switch \(value) {\n\(all.joined(separator: "\n"))\n}"]
    }

    /// `.card(let _0, _)`.
    private static func pattern(
        _ enumCase: EnumCase, prefix: String = "_", binding: (Int) -> Bool = { _ in true }
    ) -> String {
        let places = enumCase.payloads.indices
        guard places.contains(where: binding) else { return ".\(enumCase.name)" }
        return
            ".\(enumCase.name)(\(places.map { binding($0) ? "let \(prefix)\($0)" : "_" }.joined(separator: ", ")))"
    }

    private static func decoded(_ payload: EnumCase.Payload) -> String {
        let form = payload.form
        let value = payload.defaultValue?.trimmedDescription
        guard payload.storedName != nil else { return value ?? "" }
        return switch (form.isErased, value) {
        case (false, nil): "fields.decode(forKey: \(key(payload)))"
        case (false, let value?): "fields.decode(forKey: \(key(payload)), default: \(value))"
        case (true, nil):
            form.unwrapping("fields.decode(\(form.type).self, forKey: \(key(payload)))")
        case (true, let value?):
            form.unwrapping(
                "fields.decode(forKey: \(key(payload)), default: "
                    + form.wrapping("(\(value) as \(payload.type.trimmedDescription))") + ")")
        }
    }

    static func key(_ enumCase: EnumCase) -> String {
        quoted(enumCase.storedName ?? enumCase.bareName)
    }
    private static func key(_ payload: EnumCase.Payload) -> String {
        quoted(payload.storedName ?? "")
    }
}
#endif
