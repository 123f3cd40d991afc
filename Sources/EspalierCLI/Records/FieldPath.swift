#if CommandLine
import EspalierRecords

/// The place of a value in a record: `entities.media[0].url`.
///
/// A dot precedes a name, and brackets enclose an index. A name that is empty or has a dot or a
/// bracket in it is a JSON string in brackets: `["a.b"]`. The path of the whole value is empty.
struct FieldPath: Sendable, Hashable {
    enum Step: Sendable {
        case name(String)
        /// The index in an array, or the key of a dictionary with integer keys.
        case index(Int)
    }

    var steps: [Step] = []

    func appending(_ step: Step) -> FieldPath { FieldPath(steps: steps + [step]) }
}

// Names compare by their bytes, as everywhere in the tool.
extension FieldPath.Step: Hashable {
    static func == (left: FieldPath.Step, right: FieldPath.Step) -> Bool {
        switch (left, right) {
        case (.name(let left), .name(let right)): left.hasSameBytes(as: right)
        case (.index(let left), .index(let right)): left == right
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .name(let name): hasher.combine(name)
        case .index(let index): hasher.combine(index)
        }
    }
}

extension FieldPath: CustomStringConvertible {
    var description: String {
        steps.enumerated().reduce(into: "") { text, step in
            switch step.element {
            case .index(let index): text += "[\(index)]"
            case .name(let name)
            where name.isEmpty || name.unicodeScalars.contains { $0 == "." || $0 == "[" }:
                text += "[" + JSONWriter().string(from: .string(name)) + "]"
            case .name(let name): text += step.offset == 0 ? name : ".\(name)"
            }
        }
    }
}

extension FieldPath {
    private static let form = "a path is names with a dot between them, as in entities.media[0].url"

    /// The path whose `description` is `text`.
    init(parsing text: String) throws(ArgumentProblem) {
        guard !text.isEmpty else { throw ArgumentProblem(Self.form) }
        // Parses scalars, because a dot and a combining mark after it are one character.
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
                    #"brackets in a path hold an index, or a name in quotes, as in ["a.b"]"#
                )
            }
            rest = rest[digits.endIndex...].dropFirst()
            return .index(index)
        }
        var end = rest.index(after: rest.startIndex)
        while end < rest.endIndex, rest[end] != "\"" {
            // An escaped quote does not end the string.
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

extension JSONValue {
    /// Visits every value that is not made of other values, with its path: scalars, empty arrays
    /// and empty objects.
    func forEachLeaf(
        at path: FieldPath = FieldPath(), _ body: (FieldPath, JSONValue) throws -> Void
    ) rethrows {
        switch self {
        case .array(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() {
                try element.forEachLeaf(at: path.appending(.index(index)), body)
            }
        case .object(let members) where !members.isEmpty:
            for member in members {
                try member.value.forEachLeaf(at: path.appending(.name(member.name)), body)
            }
        default: try body(path, self)
        }
    }
}

/// A tree as rows, one for each leaf, with its path as in `entities.media[0].url`.
struct LeafReport: Printable {
    let tree: JSONValue

    var report: Report {
        var rows: [[Cell]] = []
        tree.forEachLeaf { path, value in
            rows.append([.text(path.description, .name), Self.cell(value)])
        }
        return Report(.list, columns: [.left("path"), .left("value")], rows: rows)
    }

    var json: JSONValue { tree }

    private static func cell(_ value: JSONValue) -> Cell {
        switch value {
        case .string(let text): .text(text)
        case .null, .array, .object: .text(value.text, .faint)
        case .bool, .number: .text(value.text)
        }
    }
}
#endif
