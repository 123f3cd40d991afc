#if CommandLine
/// A path that selects values of a JSON value: `messages[*].sender.name`.
///
/// The grammar is a part of RFC 9535: names, `['name']`, indexes, `*` and the descendants `..`. The
/// `$` at the beginning may be left out. Slices, filters and lists of selectors are missing.
///
///     path     = ["$"], {step}; the first name may stand without its dot
///     step     = ("." | ".."), (name | "*")  |  [".."], "[", (quoted name | index | "*"), "]"
struct JSONPath: Equatable {
    enum Selector: Equatable {
        case name(String)
        /// An index; a negative one counts from the end.
        case index(Int)
        case all
    }

    struct Step: Equatable {
        let selector: Selector
        /// Whether the step also selects from all values below.
        let isDescendant: Bool
    }

    let steps: [Step]

    /// Whether the path selects one value at most.
    var isSingular: Bool {
        steps.allSatisfy { !$0.isDescendant && $0.selector != .all }
    }

    /// Returns the values that the path selects, in the order in which they stand.
    func values(in root: JSONValue) -> [JSONValue] {
        steps.reduce([root]) { values, step in
            values.flatMap { value in
                let places = step.isDescendant ? Self.descendants(of: value) : [value]
                return places.flatMap { Self.select(step.selector, in: $0) }
            }
        }
    }

    private static func select(_ selector: Selector, in value: JSONValue) -> [JSONValue] {
        switch (selector, value) {
        case (.name(let name), .object): value[name].map { [$0] } ?? []
        case (.index(let index), .array(let elements)):
            elements.indices.contains(index < 0 ? elements.count + index : index)
                ? [elements[index < 0 ? elements.count + index : index]] : []
        case (.all, .array(let elements)): elements
        case (.all, .object(let members)): members.map(\.value)
        default: []
        }
    }

    /// Returns a value and all values below it, each before those below it.
    private static func descendants(of value: JSONValue) -> [JSONValue] {
        [value] + select(.all, in: value).flatMap(descendants)
    }
}

extension JSONPath: CustomStringConvertible {
    /// The path without `$`, with names in quotes where they need them.
    var description: String {
        let text = steps.map { step in
            let selector =
                switch step.selector {
                case .name(let name) where Self.needsQuotes(name): "['\(Self.escaped(name))']"
                case .name(let name): step.isDescendant ? name : ".\(name)"
                case .index(let index): "[\(index)]"
                case .all: "[*]"
                }
            return step.isDescendant ? "..\(selector)" : selector
        }.joined()
        return text.hasPrefix(".") && !text.hasPrefix("..") ? String(text.dropFirst()) : text
    }

    private static func needsQuotes(_ name: String) -> Bool {
        name.isEmpty || name.contains(where: reserved.contains)
    }

    private static func escaped(_ name: String) -> String {
        name.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }

    /// The characters that a name without quotes can't have.
    private static let reserved: Set<Character> = [".", "[", "*", "]", "'", "\""]
}

extension JSONPath {
    /// The place and the reason of a path that can't be read.
    struct Mistake: Error, Equatable, CustomStringConvertible {
        let position: Int
        let detail: String
        var description: String { "\(detail) at character \(position + 1) of the path" }
    }

    init(parsing text: String) throws(Mistake) {
        var parser = Parser(text: Array(text))
        steps = try parser.path()
    }

    private struct Parser {
        let text: [Character]
        var position = 0

        private var next: Character? { position < text.count ? text[position] : nil }

        private mutating func take(_ characters: String) -> Bool {
            guard text[position...].starts(with: characters) else { return false }
            position += characters.count
            return true
        }

        mutating func path() throws(Mistake) -> [Step] {
            var steps: [Step] = []
            let hasRoot = take("$")
            while next != nil { steps.append(try step(isFirst: steps.isEmpty && !hasRoot)) }
            return steps
        }

        private mutating func step(isFirst: Bool) throws(Mistake) -> Step {
            let isDescendant = take("..")
            if take("[") { return Step(selector: try bracket(), isDescendant: isDescendant) }
            guard isDescendant || take(".") || isFirst else {
                throw mistake("a '.' or '[' is missing")
            }
            if take("*") { return Step(selector: .all, isDescendant: isDescendant) }
            let start = position
            while let character = next, !reserved.contains(character) { position += 1 }
            guard position > start else { throw mistake("a name is missing") }
            return Step(
                selector: .name(String(text[start..<position])), isDescendant: isDescendant)
        }

        /// Reads what stands between brackets, and the closing one.
        private mutating func bracket() throws(Mistake) -> Selector {
            let selector: Selector
            if take("*") {
                selector = .all
            } else if let quote = next, quote == "'" || quote == "\"" {
                selector = .name(try quoted(quote))
            } else {
                let start = position
                while let character = next, character.isNumber || character == "-" { position += 1 }
                guard let index = Int(String(text[start..<position])) else {
                    throw mistake("an index, a quoted name or '*' is missing")
                }
                selector = .index(index)
            }
            guard take("]") else { throw mistake("a ']' is missing") }
            return selector
        }

        /// Reads a name in quotes. A backslash stands before a quote or a backslash of the name.
        private mutating func quoted(_ quote: Character) throws(Mistake) -> String {
            position += 1
            var name = ""
            while let character = next {
                position += 1
                if character == quote { return name }
                guard character == "\\" else {
                    name.append(character)
                    continue
                }
                guard let escaped = next, escaped == quote || escaped == "\\" else {
                    throw mistake("a quote or a backslash is missing")
                }
                name.append(escaped)
                position += 1
            }
            throw mistake("the end of a quoted name is missing")
        }

        private func mistake(_ detail: String) -> Mistake {
            Mistake(position: position, detail: detail)
        }
    }
}
#endif
