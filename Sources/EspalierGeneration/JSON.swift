import Foundation

/// A JSON value, as Foundation's decoder reads it.
///
/// Foundation keeps neither the order of members nor the text of numbers. The generated source
/// therefore has members in the order of their names, and `1.0` counts as an integer.
indirect enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// Parses a document.
    ///
    /// - Parameters:
    ///   - data: The document, in UTF-8.
    ///   - name: The name of the document, for the error.
    init(parsing data: Data, name: String) throws(GenerationError) {
        do {
            self = try JSONDecoder().decode(JSON.self, from: data)
        } catch {
            throw GenerationError([Problem(name, "", "this is no JSON: \(Self.reason(data))")])
        }
    }

    /// Returns where a document stops being JSON: the decoder does not say it on every platform.
    private static func reason(_ data: Data) -> String {
        do {
            _ = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
            return "a value does not fit"
        } catch {
            let text = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
            return text ?? "\(error)"
        }
    }

    /// The member of an object; nil if there is none, or if this is no object.
    subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var elements: [JSON]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    var members: [String: JSON]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// What kind of value this is, in the words of JSON Schema.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .integer: "integer"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}

extension JSON: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }
}

/// A place in a JSON document: a JSON pointer (RFC 6901).
struct JSONPointer: Hashable, Comparable, Sendable, CustomStringConvertible {
    let steps: [String]

    static let root = JSONPointer(steps: [])

    init(steps: [String]) { self.steps = steps }

    /// Reads the fragment of a reference such as `#/$defs/user`. Returns nil if it is no pointer.
    init?(fragment: String) {
        guard fragment.first == "#" else { return nil }
        let text = fragment.dropFirst().removingPercentEncoding ?? String(fragment.dropFirst())
        guard text.isEmpty || text.first == "/" else { return nil }
        steps = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
            $0.replacingOccurrences(of: "~1", with: "/").replacingOccurrences(of: "~0", with: "~")
        }
    }

    func appending(_ steps: String...) -> JSONPointer { JSONPointer(steps: self.steps + steps) }

    /// Returns the value at this place; nil if there is none.
    func value(in document: JSON) -> JSON? {
        steps.reduce(document) { value, step in
            switch value {
            case .object(let members)?: members[step]
            case .array(let elements)?:
                Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            default: nil
            }
        }
    }

    var description: String {
        "#"
            + steps.map {
                "/"
                    + $0.replacingOccurrences(of: "~", with: "~0")
                    .replacingOccurrences(of: "/", with: "~1")
            }.joined()
    }

    static func < (a: JSONPointer, b: JSONPointer) -> Bool {
        a.steps.lexicographicallyPrecedes(b.steps)
    }
}
