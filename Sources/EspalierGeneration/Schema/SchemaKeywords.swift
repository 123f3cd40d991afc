/// The keywords of JSON Schema 2020-12, by what a reader of types does with them.
///
/// A schema with a keyword that changes which values are valid in a way that no type can follow is
/// an error, and so is an unknown keyword: a misspelled `propertis` would otherwise lose members
/// without a word.
enum SchemaKeywords {
    /// Keywords that make types.
    private static let used: Set<String> = [
        "$ref", "$defs", "definitions", "type", "nullable", "properties", "required",
        "additionalProperties", "items", "enum", "const", "oneOf", "anyOf", "allOf", "format",
        "discriminator", "description", "title",
    ]

    /// Keywords that say nothing about types: annotations, and limits of values.
    private static let ignored: Set<String> = [
        "$schema", "$id", "$comment", "$anchor", "$dynamicAnchor", "$vocabulary", "default",
        "examples", "example", "deprecated", "readOnly", "writeOnly", "contentEncoding",
        "contentMediaType", "contentSchema", "externalDocs", "xml", "minLength", "maxLength",
        "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains",
        "minProperties", "maxProperties", "dependentRequired", "propertyNames",
        "unevaluatedProperties",
    ]

    /// What to do instead of a keyword that is not supported.
    private static let remedies: [String: String] = [
        "not": "describe what the value is",
        "if": "use oneOf", "then": "use oneOf", "else": "use oneOf",
        "dependentSchemas": "use oneOf",
        "patternProperties": "use additionalProperties",
        "prefixItems": "use items with one schema for all elements",
        "additionalItems": "use items with one schema for all elements",
        "unevaluatedItems": "use items with one schema for all elements",
        "$dynamicRef": "use $ref", "$recursiveRef": "use $ref",
    ]

    /// Keywords beside a `$ref` or `allOf` that add members to it.
    static let structural: Set<String> = ["properties", "required", "oneOf", "anyOf", "allOf"]

    /// Keywords that only objects have. A record is an object.
    fileprivate static let ofObjects = [
        "properties", "required", "additionalProperties", "x-espalier-record",
    ]

    /// Whether a keyword says nothing about the type of a value, but at most that it may be null.
    fileprivate static func isAnnotation(_ keyword: String) -> Bool {
        if ofObjects.contains(keyword) { return false }
        let others = ["$defs", "definitions", "description", "title", "nullable", "discriminator"]
        return ignored.contains(keyword) || others.contains(keyword) || keyword.hasPrefix("x-")
    }

    /// Returns why a keyword cannot be read; nil if it can.
    static func problem(of keyword: String) -> String? {
        if used.contains(keyword) || ignored.contains(keyword) || keyword.hasPrefix("x-") {
            return nil
        }
        if let remedy = remedies[keyword] { return "this keyword is not supported: \(remedy)" }
        return "this keyword is unknown; keywords of your own begin with x-"
    }
}

/// What a schema says by itself, without the schemas to which its references lead.
extension JSON {
    /// The names in `type`.
    var typeNames: [String] {
        if let type = self["type"]?.text { return [type] }
        return (self["type"]?.elements ?? []).compactMap(\.text)
    }

    /// Whether the value can only be null.
    var isOnlyNull: Bool {
        typeNames == ["null"] || self["const"] == .null || self["enum"]?.elements == [.null]
    }

    /// Whether the value may be null.
    ///
    /// A part of `allOf` counts, too: in OpenAPI 3.0, `nullable` often stands beside a reference.
    var isNullable: Bool {
        self["nullable"] == .bool(true) || typeNames.contains("null")
            || self["enum"]?.elements?.contains(.null) == true
            || ["oneOf", "anyOf"].contains { keyword in
                self[keyword]?.elements?.contains { $0.isOnlyNull || $0.isNullable } == true
            }
            || self["allOf"]?.elements?.contains(where: \.isNullable) == true
    }

    /// Whether this is a reference without keywords that add members.
    var isPlainReference: Bool {
        self["$ref"] != nil && !SchemaKeywords.structural.contains { self[$0] != nil }
    }

    /// Whether several schemas hold for the value together.
    var isJoined: Bool { self["$ref"] != nil || self["allOf"] != nil }

    /// The keyword of alternatives that are types; nil if there are none.
    ///
    /// Alternatives that only say which members must be there together are no types.
    var alternatives: String? {
        ["oneOf", "anyOf"].first { keyword in
            guard let elements = self[keyword]?.elements else { return false }
            return !elements.allSatisfy { Set(($0.members ?? [:]).keys) == ["required"] }
        }
    }

    /// Whether nothing is said about the type.
    var saysNothing: Bool {
        guard let members else { return self == .bool(true) }
        return members.keys.allSatisfy(SchemaKeywords.isAnnotation)
    }

    /// Whether nothing but `type` is said about the type.
    var saysTypeOnly: Bool {
        guard var members, members.removeValue(forKey: "type") != nil else { return false }
        if case .bool? = members["additionalProperties"] { members["additionalProperties"] = nil }
        return members.keys.allSatisfy(SchemaKeywords.isAnnotation)
    }

    /// The kinds of JSON that the value may have, except null; empty if that is not known.
    var kinds: Set<String> {
        // A schema that says nothing may stand beside members.
        if saysNothing { return ["object"] }
        var kinds = Set(typeNames).subtracting(["null"])
        if kinds.isEmpty {
            let values = self["enum"]?.elements ?? [self["const"]].compactMap(\.self)
            kinds = Set(values.map(\.kind)).subtracting(["null"])
        }
        if kinds.contains("integer") { kinds.insert("number") }
        guard kinds.isEmpty else { return kinds }
        let keywords = SchemaKeywords.ofObjects + ["oneOf", "anyOf"]
        if keywords.contains(where: { self[$0] != nil }) { return ["object"] }
        return self["items"] == nil ? [] : ["array"]
    }

    /// The text that a string always is, as it stands in discriminators.
    var constantText: String? {
        if let constant = self["const"]?.text { return constant }
        let values = self["enum"]?.elements
        return values?.count == 1 ? values?.first?.text : nil
    }
}

/// A schema at a place of the document, with the names for the type that it may declare.
struct SchemaPlace {
    let schema: JSON
    let pointer: JSONPointer
    let hint: NameHint

    func child(_ steps: String..., hint: NameHint) -> SchemaPlace? {
        let below = JSONPointer(steps: steps)
        return below.value(in: schema).map {
            SchemaPlace(
                schema: $0, pointer: JSONPointer(steps: pointer.steps + steps), hint: hint)
        }
    }
}

extension SchemaPlace {
    /// The schemas in the list of a keyword.
    func children(_ keyword: String) -> [SchemaPlace] {
        (0..<(schema[keyword]?.elements?.count ?? 0)).compactMap {
            child(keyword, "\($0)", hint: hint)
        }
    }

    /// The schemas that hold for one value together: that of `$ref`, those of `allOf`, and the
    /// keywords beside them. Those that say nothing about its type are left out.
    var pieces: [SchemaPlace] {
        var members = schema.members ?? [:]
        let reference = members.removeValue(forKey: "$ref").map { here(["$ref": $0]) }
        members["allOf"] = nil
        let all = [reference].compactMap(\.self) + children("allOf") + [here(members)]
        return all.filter { !$0.schema.saysNothing }
    }

    private func here(_ members: [String: JSON]) -> SchemaPlace {
        SchemaPlace(schema: .object(members), pointer: pointer, hint: hint)
    }
}

/// The names that a declaration may get.
struct NameHint {
    let short: String
    let long: String
    var isPrimary = false

    init(primary name: String) {
        short = Words.type(name)
        long = short
        isPrimary = true
    }

    init(_ key: String, in parent: NameHint) {
        short = Words.type(key)
        long = parent.long + short
    }

    private init(short: String, long: String, isPrimary: Bool) {
        self.short = short
        self.long = long
        self.isPrimary = isPrimary
    }

    /// The names for the elements of an array that would have these names.
    var element: NameHint {
        NameHint(
            short: Words.singular(short), long: Words.singular(long), isPrimary: isPrimary)
    }
}
