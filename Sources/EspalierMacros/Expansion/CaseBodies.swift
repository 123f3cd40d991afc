#if Macros
import SwiftSyntax

/// Writes the bodies of the generated functions for an enum: each is a switch over the cases.
struct CaseBodies: FunctionBodies {
    private let model: ModelDeclaration

    init(_ model: ModelDeclaration) { self.model = model }

    // MARK: Children

    var map: [String] {
        let cases = modelCases.map { enumCase in
            let arguments = enumCase.payloads.enumerated().map { index, payload in
                payload.argument(
                    payload.type.isScalar ? "_\(index)" : payload.form.unwrapping("mapped\(index)"))
            }
            let bindings = Self.modelPayloads(of: enumCase).map { index, payload in
                "let mapped\(index) = \(model.mapCall(payload.form.wrapping("_\(index)")))"
            }
            let lines = [
                "guard \(bindings.joined(separator: ",\n    "))\nelse {\n    return nil\n}",
                "return Self.\(enumCase.name)(\(arguments.joined(separator: ", ")))",
            ]
            return (Self.pattern(enumCase), lines)
        }
        return Self.switchStatement(
            "self", cases, otherwise: cases.count < model.cases.count ? "return self" : nil)
    }

    var forEach: [String] {
        guard !modelCases.isEmpty else { return [] }
        let cases = modelCases.map { enumCase in
            let lines = Self.modelPayloads(of: enumCase).map { index, payload in
                model.forEachCall(payload.form.wrapping("_\(index)"))
            }
            return (Self.pattern(enumCase) { !enumCase.payloads[$0].type.isScalar }, lines)
        }
        return Self.switchStatement(
            "self", cases, otherwise: cases.count < model.cases.count ? "break" : nil)
    }

    /// The cases that may hold models.
    private var modelCases: [EnumCase] {
        model.cases.filter { $0.payloads.contains { !$0.type.isScalar } }
    }

    private static func modelPayloads(of enumCase: EnumCase) -> [(Int, EnumCase.Payload)] {
        enumCase.payloads.enumerated().filter { !$1.type.isScalar }.map { ($0, $1) }
    }

    // MARK: Equality

    var equality: [String] {
        let cases = model.cases.map { enumCase in
            let lines = enumCase.payloads.enumerated().map { index, payload in
                Code.returnIfUnequal(
                    payload.form.wrapping("a\(index)"), payload.form.wrapping("b\(index)"),
                    isScalar: payload.type.isScalar)
            }
            let (a, b) = (
                Self.pattern(enumCase, prefix: "a"), Self.pattern(enumCase, prefix: "b")
            )
            return ("(\(a), \(b))", lines + ["return true"])
        }
        return Self.switchStatement(
            "(a, b)", cases, otherwise: cases.count > 1 ? "return false" : nil)
    }

    var hash: [String] {
        let cases = model.cases.enumerated().map { position, enumCase in
            let lines = enumCase.payloads.enumerated().map { index, payload in
                Code.hash(payload.form.wrapping("_\(index)"), isScalar: payload.type.isScalar)
            }
            return (Self.pattern(enumCase), ["hasher.combine(\(position))"] + lines)
        }
        return Self.switchStatement("self", cases, otherwise: nil)
    }

    var sameEncoding: [String] {
        let cases = model.cases.map { enumCase in
            let stored = enumCase.payloads.enumerated().filter { $1.storedName != nil }
            let lines = stored.map { index, payload in
                Code.returnUnlessSameEncoding(
                    payload.form.wrapping("a\(index)"), payload.form.wrapping("b\(index)"))
            }
            let (a, b) = (
                Self.pattern(enumCase, prefix: "a") { enumCase.payloads[$0].storedName != nil },
                Self.pattern(enumCase, prefix: "b") { enumCase.payloads[$0].storedName != nil }
            )
            return ("(\(a), \(b))", lines + ["return true"])
        }
        return Self.switchStatement(
            "(self, other)", cases, otherwise: cases.count > 1 ? "return false" : nil)
    }

    // MARK: Records

    var encode: [String] {
        let cases = model.cases.map { enumCase in
            let lines = enumCase.payloads.enumerated().filter { $1.storedName != nil }.map {
                index, payload in
                let value = payload.form.wrapping("_\(index)")
                return Code.located(
                    "try fields.encode(\(value), forKey: \(payload.key))",
                    at: model.location(Syntax(payload.type)))
            }
            let body =
                lines.isEmpty
                ? " _ in " : " fields in\n\(lines.map(Code.indented).joined(separator: "\n"))\n"
            return (
                Self.pattern(enumCase) { enumCase.payloads[$0].storedName != nil },
                ["try encoder.encodeCase(\(enumCase.key)) {\(body)}"]
            )
        }
        return Self.switchStatement("self", cases, otherwise: nil)
    }

    /// Passes the names of the cases to the decoder, because an enum with an identifier may share
    /// its record with other types, whose fields have other names.
    var decode: [String] {
        let cases = model.cases.map { enumCase in
            let arguments = enumCase.payloads.map { $0.argument(Self.decoded($0)) }
                .joined(separator: ", ")
            let value =
                "Self.\(enumCase.name)" + (enumCase.payloads.isEmpty ? "" : "(\(arguments))")
            let readsFields = enumCase.payloads.contains { $0.storedName != nil }
            let body = readsFields ? "fields in\n    try \(value)\n" : "_ in\n    \(value)\n"
            let line = enumCase.payloads.first.flatMap { model.location(Syntax($0.type)) }
            let read = "self = try decoder.decodeCase(\(enumCase.key)) { \(body)}"
            return (enumCase.key, [Code.located(read, at: line)])
        }
        let names = model.cases.map(\.key).joined(separator: ", ")
        return ["let name = try decoder.caseName(among: [\(names)])"]
            + Self.switchStatement(
                "name", cases, otherwise: "throw decoder.unknownCase(name, of: Self.self)")
    }

    private static func decoded(_ payload: EnumCase.Payload) -> String {
        let value = payload.defaultValue?.trimmedDescription
        guard payload.storedName != nil else { return value ?? "" }
        return payload.form.decoding(
            "fields.decode", key: payload.key, default: value, of: payload.type)
    }

    // MARK: Switches

    private static func switchStatement(
        _ value: String, _ cases: [(pattern: String, lines: [String])], otherwise: String?
    ) -> [String] {
        guard !cases.isEmpty else { return [otherwise ?? "return self"] }
        let written = cases.map {
            "case \($0.pattern):\n\($0.lines.map(Code.indented).joined(separator: "\n"))"
        }
        let all = written + (otherwise.map { ["default:\n    \($0)"] } ?? [])
        return ["switch \(value) {\n\(all.joined(separator: "\n"))\n}"]
    }

    /// Returns a pattern such as `.card(let _0, _)`, with a binding where `isBound` is true.
    private static func pattern(
        _ enumCase: EnumCase, prefix: String = "_", isBound: (Int) -> Bool = { _ in true }
    ) -> String {
        let positions = enumCase.payloads.indices
        guard positions.contains(where: isBound) else { return ".\(enumCase.name)" }
        let bindings = positions.map { isBound($0) ? "let \(prefix)\($0)" : "_" }
        return ".\(enumCase.name)(\(bindings.joined(separator: ", ")))"
    }
}

extension EnumCase {
    /// The stored name as a literal.
    fileprivate var key: String { Code.literal(storedName ?? bareName) }
}

extension EnumCase.Payload {
    /// The stored name as a literal.
    fileprivate var key: String { Code.literal(storedName ?? "") }
}
#endif
