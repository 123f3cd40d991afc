extension FieldPath {
    private static let form = "a path is names with a dot between them, as in entities.media[0].url"

    /// The path whose `description` is `text`.
    init(parsing text: String) throws(ArgumentProblem) {
        guard !text.isEmpty else { throw ArgumentProblem(Self.form) }
        // Scalars: a combining mark behind a dot makes one character of both.
        var rest = Substring.UnicodeScalarView(text.unicodeScalars)
        while let first = rest.first {
            if first == "[" {
                rest.removeFirst()
                steps.append(try Self.bracketed(from: &rest))
                continue
            }
            if !steps.isEmpty {
                guard first == "." else { throw ArgumentProblem(Self.form) }
                rest.removeFirst()
            }
            let name = rest.prefix { $0 != "." && $0 != "[" }
            guard !name.isEmpty else {
                throw ArgumentProblem(#"\#(Self.form); a name with a dot in it is written ["a.b"]"#)
            }
            steps.append(.name(String(name)))
            rest = rest[name.endIndex...]
        }
    }

    private static func bracketed(from rest: inout Substring.UnicodeScalarView)
        throws(ArgumentProblem) -> Step
    {
        guard rest.first == "\"" else {
            let digits = rest.prefix { $0 != "]" }
            guard let index = Int(String(digits)), digits.endIndex < rest.endIndex else {
                throw ArgumentProblem(
                    #"brackets in a path hold the place in an array, or a name in quotes, as in ["a.b"]"#
                )
            }
            rest = rest[digits.endIndex...].dropFirst()
            return .index(index)
        }
        var end = rest.index(after: rest.startIndex)
        while end < rest.endIndex, rest[end] != "\"" {
            // What a backslash escapes is not the end.
            if rest[end] == "\\" { end = rest.index(after: end) }
            if end < rest.endIndex { end = rest.index(after: end) }
        }
        guard end < rest.endIndex, rest[rest.index(after: end)...].first == "]",
            case .string(let name)? = try? JSONParser.parse(Array(String(rest[...end]).utf8))
        else {
            throw ArgumentProblem(
                #"a name in quotes in a path is a JSON string in brackets, as in ["a.b"]"#)
        }
        rest = rest[end...].dropFirst(2)
        return .name(name)
    }
}
