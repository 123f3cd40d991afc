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

    /// Returns why a keyword cannot be read; nil if it can.
    static func problem(of keyword: String) -> String? {
        if used.contains(keyword) || ignored.contains(keyword) || keyword.hasPrefix("x-") {
            return nil
        }
        if let remedy = remedies[keyword] { return "this keyword is not supported: \(remedy)" }
        return "this keyword is unknown; keywords of your own begin with x-"
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
