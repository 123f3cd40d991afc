#if Macros
import SwiftSyntax

/// The same things for enums: a switch over the cases each.
extension Rendering {
    var caseMapping: [String] {
        switched("self", nestingCases.map { enumCase in
            let nesting = enumCase.payloads.indices.filter { !enumCase.payloads[$0].type.isScalar }
            let bindings = nesting.map { index in
                let payload = enumCase.payloads[index]
                let value = payload.form.wrapping("_\(index)")
                return "let mapped\(index) = \(Self.mapped(value, isDynamic: payload.isDynamic(in: model.parameters)))"
            }
            let arguments = enumCase.payloads.enumerated().map { index, payload in
                let value = nesting.contains(index) ? payload.form.unwrapping("mapped\(index)") : "_\(index)"
                return payload.label.map { "\($0): \(value)" } ?? value
            }
            return (
                Self.pattern(enumCase),
                [
                    "guard \(bindings.joined(separator: ",\n    "))\nelse {\n    return nil\n}",
                    "return Self.\(enumCase.name)(\(arguments.joined(separator: ", ")))",
                ]
            )
        }, rest: nestingCases.count < model.cases.count ? "return self" : nil)
    }

    var caseVisiting: [String] {
        guard !nestingCases.isEmpty else { return [] }
        return switched("self", nestingCases.map { enumCase in
            let nesting = enumCase.payloads.indices.filter { !enumCase.payloads[$0].type.isScalar }
            let lines = nesting.map { index in
                let payload = enumCase.payloads[index]
                return Self.visited(
                    payload.form.wrapping("_\(index)"), isDynamic: payload.isDynamic(in: model.parameters))
            }
            return (Self.pattern(enumCase, binding: nesting.contains), lines)
        }, rest: nestingCases.count < model.cases.count ? "break" : nil)
    }

    var caseComparing: [String] {
        switched("(a, b)", model.cases.map { enumCase in
            let lines = enumCase.payloads.enumerated().map { index, payload in
                Self.unequal(
                    payload.form.wrapping("a\(index)"), payload.form.wrapping("b\(index)"),
                    isScalar: payload.type.isScalar)
            }
            return ("(\(Self.pattern(enumCase, prefix: "a")), \(Self.pattern(enumCase, prefix: "b")))", lines + ["return true"])
        }, rest: model.cases.count > 1 ? "return false" : nil)
    }

    var caseHashing: [String] {
        switched("self", model.cases.enumerated().map { place, enumCase in
            let lines = enumCase.payloads.enumerated().map { index, payload in
                Self.hashed(payload.form.wrapping("_\(index)"), isScalar: payload.type.isScalar)
            }
            return (Self.pattern(enumCase), ["hasher.combine(\(place))"] + lines)
        }, rest: nil)
    }

    var caseEncoding: [String] {
        switched("self", model.cases.map { enumCase in
            let stored = enumCase.payloads.indices.filter { enumCase.payloads[$0].storedName != nil }
            let lines = stored.map { index in
                let payload = enumCase.payloads[index]
                return "try fields.encode(\(payload.form.wrapping("_\(index)")), forKey: \(Self.key(payload)))"
            }
            let head = "try encoder.encodeCase(\(Self.key(enumCase)))"
            return (
                Self.pattern(enumCase, binding: stored.contains),
                [lines.isEmpty ? "\(head) { _ in }" : "\(head) { fields in\n\(lines.map(Self.indented).joined(separator: "\n"))\n}"]
            )
        }, rest: nil)
    }

    var caseDecoding: [String] {
        let cases = model.cases.map { enumCase in
            let arguments = enumCase.payloads.map { payload in
                let value = Self.decoded(payload)
                return payload.label.map { "\($0): \(value)" } ?? value
            }
            let readsFields = enumCase.payloads.contains { $0.storedName != nil }
            let value = "Self.\(enumCase.name)" + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")
            let body = readsFields ? "fields in\n    try \(value)\n" : "_ in\n    \(value)\n"
            return (Self.key(enumCase), ["self = try decoder.decodeCase(\(Self.key(enumCase))) { \(body)}"])
        }
        // An enum with an identifier shares its record with other types, which have fields of other names there.
        let names = model.cases.map(Self.key).joined(separator: ", ")
        return ["let name = try decoder.caseName(among: [\(names)])"]
            + switched("name", cases, rest: "throw decoder.unknownCase(name, of: Self.self)")
    }

    /// Those in which a model may stand.
    private var nestingCases: [EnumCase] { model.cases.filter { $0.payloads.contains { !$0.type.isScalar } } }

    private func switched(_ value: String, _ cases: [(pattern: String, lines: [String])], rest: String?) -> [String] {
        guard !cases.isEmpty else { return [rest ?? "return self"] }
        let written = cases.map { "case \($0.pattern):\n\($0.lines.map(Self.indented).joined(separator: "\n"))" }
        let all = written + (rest.map { ["default:\n    \($0)"] } ?? [])
        return ["switch \(value) {\n\(all.joined(separator: "\n"))\n}"]
    }

    /// `.card(let _0, _)`.
    private static func pattern(
        _ enumCase: EnumCase, prefix: String = "_", binding: (Int) -> Bool = { _ in true }
    ) -> String {
        let places = enumCase.payloads.indices
        guard places.contains(where: binding) else { return ".\(enumCase.name)" }
        return ".\(enumCase.name)(\(places.map { binding($0) ? "let \(prefix)\($0)" : "_" }.joined(separator: ", ")))"
    }

    private static func decoded(_ payload: EnumCase.Payload) -> String {
        let form = payload.form
        let value = payload.defaultValue?.trimmedDescription
        guard payload.storedName != nil else { return value ?? "" }
        return switch (form.isErased, value) {
        case (false, nil): "fields.decode(forKey: \(key(payload)))"
        case (false, let value?): "fields.decode(forKey: \(key(payload)), default: \(value))"
        case (true, nil): form.unwrapping("fields.decode(\(form.type).self, forKey: \(key(payload)))")
        case (true, let value?):
            form.unwrapping(
                "fields.decode(forKey: \(key(payload)), default: "
                    + form.wrapping("(\(value) as \(payload.type.trimmedDescription))") + ")")
        }
    }

    static func key(_ enumCase: EnumCase) -> String { quoted(enumCase.storedName ?? enumCase.bareName) }
    private static func key(_ payload: EnumCase.Payload) -> String { quoted(payload.storedName ?? "") }
}
#endif
