import Foundation

/// A JSON value, as Foundation reads it.
///
/// Foundation keeps neither the order of members nor the text of numbers, but whether a number has
/// a fraction. The generated source has members in the order of their names.
indirect enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    /// A whole number beyond `Int`.
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// Parses a document.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - name: The name of the document, for the error.
    init(parsing data: Data, name: String) throws(GenerationError) {
        let value: Any
        do {
            value = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        } catch {
            let text = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
            let reason = text ?? "\(error)"
            // JSON sets numbers no limit, but Foundation does.
            let isNumber = reason.contains("not representable")
            throw GenerationError([
                Problem(
                    name, "",
                    isNumber ? "a number is too large: \(reason)" : "this is no JSON: \(reason)")
            ])
        }
        self.init(value)
    }

    /// Takes a value over from Foundation.
    private init(_ value: Any) {
        switch value {
        case let members as [String: Any]: self = .object(members.mapValues { JSON($0) })
        case let elements as [Any]: self = .array(elements.map { JSON($0) })
        case let text as String: self = .string(text)
        case let number as NSNumber: self.init(number)
        default: self = .null
        }
    }

    private init(_ number: NSNumber) {
        switch unsafe String(cString: number.objCType) {
        case "c", "B": self = .bool(number.boolValue)
        case "d", "f": self = .number(number.doubleValue)
        default:
            let text = number.stringValue
            self =
                Int(text).map { .integer($0) } ?? UInt64(text).map { .unsigned($0) }
                ?? .number(number.doubleValue)
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
        case .integer, .unsigned: "integer"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
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
