import Feeds
import Foundation

/// A record of a cache that knows no types: fields by name, references as values of their own.
struct GenericRecord {
    typealias Fields = [String: Any]

    struct Reference: Hashable {
        let key: String
    }

    private(set) var fields: Fields

    init(_ fields: Fields) { self.fields = fields }

    /// Returns the bytes of a JSON object. A nested object with only a reference stands for the
    /// reference.
    init(json: Data) throws {
        guard let object = try JSONSerialization.jsonObject(with: json) as? Fields else {
            throw ComparisonError.missing("an object in a row")
        }
        fields = object.mapValues(Self.value)
    }

    private static func value(_ json: Any) -> Any {
        switch json {
        case let list as [Any]: return list.map(value)
        case let object as Fields:
            guard let key = object[referenceName] as? String else { return object.mapValues(value) }
            return Reference(key: key)
        default: return json
        }
    }

    private static let referenceName = "$reference"

    func json() throws -> Data {
        try JSONSerialization.data(withJSONObject: fields.mapValues(Self.json))
    }

    private static func json(_ value: Any) -> Any {
        switch value {
        case let list as [Any]: list.map(json)
        case let reference as Reference: [referenceName: reference.key]
        default: value
        }
    }

    /// Merges fields that are new or have another value. Returns whether there are any.
    mutating func merge(_ other: GenericRecord) -> Bool {
        var isChanged = false
        for (name, value) in other.fields where !Self.areSame(fields[name], value) {
            fields[name] = value
            isChanged = true
        }
        return isChanged
    }

    private static func areSame(_ one: Any?, _ other: Any) -> Bool {
        switch (one, other) {
        case (let one as [Any], let other as [Any]):
            one.count == other.count && zip(one, other).allSatisfy(areSame)
        case (let one?, _): (one as? AnyHashable) == (other as? AnyHashable)
        case (nil, _): false
        }
    }

    // MARK: Reading fields

    func value<Value>(_ name: String) throws -> Value {
        guard let value = fields[name] as? Value else {
            throw ComparisonError.missing("the field \(name)")
        }
        return value
    }

    func reference(_ name: String) throws -> String {
        let reference: Reference = try value(name)
        return reference.key
    }

    func references(_ name: String) throws -> [String] {
        let references: [Any] = try value(name)
        return references.compactMap { ($0 as? Reference)?.key }
    }
}
