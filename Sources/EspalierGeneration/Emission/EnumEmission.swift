/// The enums of the generated source.
///
/// Each has a case for what it does not know. A new value or kind of a server would otherwise be an
/// error of `JSONDecoder` for the whole response. The case keeps what was sent, so that writing it
/// back loses nothing.
///
/// They are `nonisolated`, because models are used on any thread, in modules of the main actor too.
extension SwiftEmitter {
    // MARK: Strings and integers

    func enumeration(_ enumeration: EnumerationBody, name: String) -> [String] {
        let raw: String
        let values: [(name: String, literal: String)]
        var unique = UniqueNames(
            reserved: Words.reservedMembers.union(["none", "some"]), suffix: "Case")
        switch enumeration.values {
        case .strings(let strings):
            raw = "String"
            values = strings.map { (unique.take(Words.property($0)), Self.literal($0)) }
        case .integers(let integers):
            raw = "Int"
            values = integers.map { number in
                let name = number < 0 ? "minus\(number.magnitude)" : "value\(number)"
                return (unique.take(name), "\(number)")
            }
        }
        let rest = unique.take("unknown", orElse: "other")
        let conformances = "RawRepresentable, Codable, Hashable, Sendable, FieldValue"
        return ["\(access)nonisolated enum \(name): \(conformances) {"]
            + values.map { "    case \(Words.escaped($0.name))" }
            + [
                "    /// A value that this file does not know.", "    case \(rest)(\(raw))", "",
                "    \(access)init(rawValue: \(raw)) {", "        switch rawValue {",
            ] + values.map { "        case \($0.literal): self = .\($0.name)" }
            + [
                "        default: self = .\(rest)(rawValue)", "        }", "    }", "",
                "    \(access)var rawValue: \(raw) {", "        switch self {",
            ] + values.map { "        case .\($0.name): \($0.literal)" }
            + ["        case .\(rest)(let value): value", "        }", "    }", "}"]
    }

    // MARK: One of several types

    func union(_ union: UnionBody, name: String, isRecursive: Bool) -> [String] {
        var unique = UniqueNames(
            reserved: Words.reservedMembers.union(["none", "some"]), suffix: "Case")
        let cases = union.cases.map { (name: unique.take($0.name), case: $0) }
        let rest = unique.take("unknown", orElse: "other")
        let kind = isRecursive ? "indirect enum" : "enum"
        let head = Self.joined(
            "@Normalized", "\(access)nonisolated \(kind) \(name): Codable {", indent: "")
        let all = cases.map { ($0.name, names.text($0.case.type)) } + [(rest, names.any)]
        let declared = all.dropLast().map { "    case \(Words.escaped($0.0))(\($0.1))" }
        let decoding =
            union.discriminator.map { self.decoding(cases, by: $0, rest: rest) }
            ?? self.decoding(cases, rest: rest)
        return head + declared
            + [
                "    /// A kind that this file does not know.", "    case \(rest)(\(names.any))",
                "",
            ]
            + decoding
            + [
                "", "    \(access)func encode(to encoder: any Encoder) throws {",
                "        var container = encoder.singleValueContainer()", "        switch self {",
            ] + all.map { "        case .\($0.0)(let value): try container.encode(value)" }
            + ["        }", "    }", "}"]
    }

    private typealias NamedCase = (name: String, case: UnionBody.Case)

    /// Decodes by the constant of a member.
    private func decoding(
        _ cases: [NamedCase], by discriminator: String, rest: String
    ) -> [String] {
        [
            "    private nonisolated enum Discriminator: String, CodingKey {",
            "        case key = \(Self.literal(discriminator))", "    }", "",
            "    \(access)init(from decoder: any Decoder) throws {",
            "        let container = try decoder.singleValueContainer()",
            "        let members = try? decoder.container(keyedBy: Discriminator.self)",
            "        switch try? members?.decode(String.self, forKey: .key) {",
        ]
            + cases.flatMap { name, enumCase -> [String] in
                let type = names.text(enumCase.type)
                let tag = Self.literal(enumCase.tag ?? "")
                return ["        case \(tag)?: self = .\(name)(try container.decode(\(type).self))"]
            }
            + [
                "        default: self = .\(rest)(try container.decode(\(names.any).self))",
                "        }", "    }",
            ]
    }

    /// Tries one type after the other.
    private func decoding(_ cases: [NamedCase], rest: String) -> [String] {
        let types = cases.map(\.case.type)
        let attempts = cases.flatMap { self.attempts($0, among: types) }
        // The order of the schema decides between types of the same precedence: sorting is stable.
        let ordered = attempts.sorted { $0.precedence > $1.precedence }
        var lines = [
            "    \(access)init(from decoder: any Decoder) throws {",
            "        let container = try decoder.singleValueContainer()",
        ]
        for (number, attempt) in ordered.enumerated() {
            let start = number == 0 ? "        if" : "        } else if"
            let value = "\(start) let value = try? container.decode(\(attempt.type).self)"
            if attempt.condition.isEmpty {
                lines.append("\(value) {")
            } else {
                lines += ["\(value),"] + attempt.condition + ["        {"]
            }
            lines.append("            self = .\(attempt.name)(value)")
        }
        return lines + [
            "        } else {",
            "            self = .\(rest)(try container.decode(\(names.any).self))", "        }",
            "    }",
        ]
    }

    /// One try to decode a case of a union.
    private struct Attempt {
        let name: String
        let type: String
        /// How early the type is tried.
        let precedence: Int
        /// The lines of what must be true of the value, too.
        var condition: [String] = []
    }

    /// Returns how a case is decoded. An enum, which reads every string or integer, is first tried
    /// for the values that it knows. Its other values come after all types that may read them.
    private func attempts(_ element: NamedCase, among types: [ValueType]) -> [Attempt] {
        let (name, type) = (element.name, element.case.type)
        let (text, precedence) = (names.text(type), precedence(type))
        if type == .url, types.contains(.string) || types.contains(where: { values($0).isText }) {
            // `URL` takes any text, but writes some of it in another way, such as spaces.
            let condition =
                "            (try? container.decode(String.self)) == value.absoluteString"
            return [
                Attempt(name: name, type: text, precedence: precedence, condition: [condition])
            ]
        }
        let (literals, isText) = values(type)
        guard !literals.isEmpty else {
            let condition = constants(of: type)
            return [
                Attempt(name: name, type: text, precedence: precedence, condition: condition)
            ]
        }
        let plain: [ValueType] = isText ? [.string] : [.integer, .number]
        let wider: [ValueType] = isText ? [.url] : [.unsigned]
        let enums = types.filter { !values($0).literals.isEmpty && values($0).isText == isText }
        let hasPlain = types.contains(where: plain.contains)
        guard hasPlain || enums.count > 1 || types.contains(where: wider.contains) else {
            return [Attempt(name: name, type: text, precedence: precedence)]
        }
        let known = Attempt(
            name: name, type: text, precedence: 2_100, condition: Self.condition(literals))
        // Nothing is left for the other values if another type reads them all.
        if hasPlain || enums.first != type { return [known] }
        return [known, Attempt(name: name, type: text, precedence: 950)]
    }

    /// Returns the lines that ask whether an object has the texts that the schema demands: another
    /// alternative may have the same members.
    private func constants(of type: ValueType) -> [String] {
        guard case .declared(let index) = type,
            case .object(let object) = models.declarations[index].body
        else { return [] }
        let conditions = properties(of: object).compactMap { member, property -> String? in
            guard let constant = member.constant, member.isRequired, !member.isNullable else {
                return nil
            }
            let value = "value.\(Words.escaped(property))"
            let literal = Self.literal(constant)
            if member.type == .string { return "            \(value) == \(literal)" }
            return values(member.type).isText
                ? "            \(value).rawValue == \(literal)" : nil
        }
        return conditions.enumerated().map { $1 + ($0 < conditions.count - 1 ? "," : "") }
    }

    /// Returns the lines that ask whether a value is one of these.
    private static func condition(_ literals: [String]) -> [String] {
        let line = "            [\(literals.joined(separator: ", "))].contains(value.rawValue)"
        if line.count <= 100 { return [line] }
        return ["            ["] + literals.map { "                \($0)," }
            + ["            ].contains(value.rawValue)"]
    }

    /// Returns the literals of an enum's values, and whether they are strings; none if the type is
    /// no enum.
    private func values(_ type: ValueType) -> (literals: [String], isText: Bool) {
        guard case .declared(let index) = type,
            case .enumeration(let enumeration) = models.declarations[index].body
        else { return ([], false) }
        switch enumeration.values {
        case .strings(let strings): return (strings.map(Self.literal), true)
        case .integers(let integers): return (integers.map { "\($0)" }, false)
        }
    }

    /// How early a type is tried: a type that reads less comes before one that reads more. An
    /// object with more required members reads less, and so does an array of such objects.
    private func precedence(_ type: ValueType) -> Int {
        switch type {
        case .bool: 2_000
        case .integer: 1_900
        case .unsigned: 1_850
        case .number: 1_800
        case .date, .uuid: 1_700
        case .declared(let index):
            switch models.declarations[index].body {
            case .object(let object):
                100 + min(500, object.members.count(where: \.isRequired))
            case .union: 50
            // Reads every string or integer.
            case .enumeration: 1_600
            }
        case .url: 1_500
        case .string: 1_000
        // Arrays compete with one another only.
        case .array(let element): 300 + precedence(element)
        case .optional(let wrapped): precedence(wrapped)
        case .dictionary: 10
        case .any: 0
        }
    }

    // MARK: Any JSON

    /// The type for values of which nothing is known.
    var anyJSON: String {
        let name = names.any
        let kinds = [
            ("bool", "Bool"), ("integer", "Int"), ("unsigned", "UInt64"), ("number", "Double"),
            ("string", "String"), ("array", "[\(name)]"), ("object", "[String: \(name)]"),
        ]
        let decoding = kinds.dropLast().flatMap { kind, type in
            [
                "        } else if let value = try? container.decode(\(type).self) {",
                "            self = .\(kind)(value)",
            ]
        }
        let lines =
            [
                "/// Any JSON.",
                "\(access)nonisolated enum \(name): Codable, Hashable, Sendable {", "    case null",
            ] + kinds.map { "    case \($0.0)(\($0.1))" }
            + [
                "", "    \(access)init(from decoder: any Decoder) throws {",
                "        let container = try decoder.singleValueContainer()",
                "        if container.decodeNil() {", "            self = .null",
            ] + decoding
            + [
                "        } else {",
                "            self = .object(try container.decode([String: \(name)].self))",
                "        }", "    }", "",
                "    \(access)func encode(to encoder: any Encoder) throws {",
                "        var container = encoder.singleValueContainer()", "        switch self {",
                "        case .null: try container.encodeNil()",
            ] + kinds.map { "        case .\($0.0)(let value): try container.encode(value)" }
            + ["        }", "    }", "}"]
        return lines.joined(separator: "\n")
    }
}
