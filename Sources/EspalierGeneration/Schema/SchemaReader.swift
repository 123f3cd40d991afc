/// Reads the types of a JSON Schema.
///
/// Each object, enum and `oneOf` becomes a declaration. A declaration belongs to its place in the
/// document, so that all references to a definition mean one type, and a definition may refer to
/// itself.
struct SchemaReader {
    private let document: JSON
    private let name: String
    private let options: GenerationOptions
    private var models: ModelSet
    private var problems: [Problem] = []
    private var indices: [JSONPointer: Int] = [:]
    /// The unions with an alternative that may be null.
    private var nullableUnions: Set<Int> = []
    /// The references that are being followed, because one may lead back to itself.
    private var followed: [JSONPointer] = []

    /// What a schema says about a value.
    private struct Use {
        var type: ValueType
        var isNullable = false
        var documentation: String?
    }

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - document: The schema.
    ///   - name: The name of its file.
    ///   - options: What the user chose.
    static func models(
        of document: JSON, name: String, options: GenerationOptions
    ) throws(GenerationError) -> ModelSet {
        var reader = SchemaReader(document: document, name: name, options: options)
        reader.readDocument()
        let problems = Set(reader.problems).sorted { ($0.pointer, $0.text) < ($1.pointer, $1.text) }
        guard problems.isEmpty else { throw GenerationError(problems) }
        return reader.models
    }

    private init(document: JSON, name: String, options: GenerationOptions) {
        self.document = document
        self.name = name
        self.options = options
        let stem = name.prefix { $0 != "." }
        models = ModelSet(
            rootName: Words.type(options.rootType ?? document["title"]?.text ?? String(stem)))
    }

    private mutating func report(_ pointer: JSONPointer, _ text: String) {
        problems.append(Problem(name, pointer.description, text))
    }

    // MARK: The document

    private mutating func readDocument() {
        guard document.members != nil else {
            return report(.root, "a schema is an object, and this is \(document.kind)")
        }
        let isService = document["openapi"] != nil
        // Definitions first: they are the types that the author named.
        for folder in Self.folders where (folder == Self.folders[0]) == isService {
            let folder = JSONPointer(steps: folder)
            for key in (folder.value(in: document)?.members ?? [:]).keys.sorted() {
                guard let place = definition(at: folder.appending(key)) else { continue }
                _ = read(place)
            }
        }
        let says = document.members?.keys.contains { key in
            SchemaKeywords.structural.contains(key)
                || ["$ref", "type", "items", "enum", "additionalProperties"].contains(key)
        }
        if says == true, !isService {
            // The elements of a list have the name that was given for the document.
            let hint = NameHint(primary: models.rootName)
            let isList = document["type"]?.text == "array" && options.rootType != nil
            let place = SchemaPlace(schema: document, pointer: .root, hint: hint)
            models.root = isList ? readList(place, element: hint).type : read(place).type
        }
        if models.declarations.isEmpty, problems.isEmpty {
            report(.root, "no object, no enum and no oneOf: there is no type to generate")
        }
    }

    /// The places of definitions, first that of a web service.
    private static let folders = [["components", "schemas"], ["$defs"], ["definitions"]]

    /// Returns the place of a definition, with its own name; nil if there is none.
    private func definition(at pointer: JSONPointer) -> SchemaPlace? {
        guard let schema = pointer.value(in: document) else { return nil }
        let name = pointer.steps.last ?? models.rootName
        return SchemaPlace(schema: schema, pointer: pointer, hint: NameHint(primary: name))
    }

    // MARK: One schema

    private mutating func read(_ place: SchemaPlace) -> Use {
        guard check(place) else { return Use(type: .any) }
        var use = value(place)
        use.isNullable = use.isNullable || place.schema.isNullable
        if let text = place.schema["description"]?.text { use.documentation = text }
        return use
    }

    /// Reports the keywords that cannot be read. Returns whether the schema has keywords at all.
    private mutating func check(_ place: SchemaPlace) -> Bool {
        guard let members = place.schema.members else {
            if place.schema != .bool(true) {
                report(
                    place.pointer,
                    "a schema is an object or true, and this is \(place.schema.kind)")
            }
            return false
        }
        for keyword in members.keys.sorted() {
            guard let problem = SchemaKeywords.problem(of: keyword) else { continue }
            report(place.pointer.appending(keyword), problem)
        }
        return true
    }

    private mutating func value(_ place: SchemaPlace) -> Use {
        let schema = place.schema
        if schema.isPlainReference { return reference(place) }
        if schema.isJoined { return joined(place) }
        if let keyword = schema.alternatives {
            if schema["properties"] != nil {
                report(
                    place.pointer.appending(keyword),
                    "members beside \(keyword) are not supported: move them into its schemas")
            }
            return alternatives(place.children(keyword), of: place)
        }
        if let constant = schema["const"] { return self.constant(constant) }
        if let values = schema["enum"]?.elements { return enumeration(values, place) }
        return typed(place)
    }

    private mutating func reference(_ place: SchemaPlace) -> Use {
        guard let target = target(of: place) else { return Use(type: .any) }
        if let index = indices[target.pointer] {
            return Use(type: .declared(index), isNullable: target.schema.isNullable)
        }
        guard !followed.contains(target.pointer) else {
            report(place.pointer, "this reference leads back to itself")
            return Use(type: .any)
        }
        followed.append(target.pointer)
        defer { followed.removeLast() }
        var use = read(target)
        // The text of a definition describes its type, and not each member that has it.
        use.documentation = nil
        return use
    }

    /// Returns the place to which the `$ref` of a schema leads, and reports it if there is none.
    private mutating func target(of place: SchemaPlace) -> SchemaPlace? {
        let pointer = place.pointer.appending("$ref")
        guard let reference = place.schema["$ref"]?.text else {
            report(pointer, "a reference is a string")
            return nil
        }
        let text = withoutOwnAddress(reference)
        guard text.first == "#" else {
            report(
                pointer,
                "\(text) is in another document: put the definition under $defs of this one")
            return nil
        }
        guard let path = JSONPointer(fragment: text) else {
            report(pointer, "\(text) is no JSON pointer: write #/$defs/ and the name")
            return nil
        }
        if path == .root {
            return SchemaPlace(
                schema: document, pointer: path, hint: NameHint(primary: models.rootName))
        }
        guard let target = definition(at: path) else {
            report(pointer, "there is nothing at \(text)")
            return nil
        }
        return target
    }

    /// Returns a reference without the address of the document in front.
    private func withoutOwnAddress(_ reference: String) -> String {
        guard let own = document["$id"]?.text, reference.hasPrefix(own + "#") else {
            return reference
        }
        return String(reference.dropFirst(own.count))
    }

    // MARK: Plain values

    private func constant(_ value: JSON) -> Use {
        switch value {
        case .null: Use(type: .any, isNullable: true)
        case .bool(let value): Use(type: .bool, documentation: "Always `\(value)`.")
        case .integer(let value): Use(type: .integer, documentation: "Always `\(value)`.")
        case .unsigned(let value): Use(type: .unsigned, documentation: "Always `\(value)`.")
        case .number(let value): Use(type: .number, documentation: "Always `\(value)`.")
        case .string(let value): Use(type: .string, documentation: "Always `\(value)`.")
        case .array, .object: Use(type: .any)
        }
    }

    private mutating func enumeration(_ values: [JSON], _ place: SchemaPlace) -> Use {
        let others = values.filter { $0 != .null }
        let isNullable = others.count < values.count
        if let index = indices[place.pointer] {
            return Use(type: .declared(index), isNullable: isNullable)
        }
        // One value is a constant, as it often stands in discriminators.
        if others.count == 1, let only = others.first {
            var use = constant(only)
            use.isNullable = isNullable
            return use
        }
        let strings = others.compactMap(\.text)
        let integers = others.compactMap { if case .integer(let value) = $0 { value } else { nil } }
        let body: EnumerationBody
        if !strings.isEmpty, strings.count == others.count {
            body = EnumerationBody(values: .strings(strings.uniqued))
        } else if !integers.isEmpty, integers.count == others.count {
            body = EnumerationBody(values: .integers(integers.uniqued))
        } else {
            let kinds = Set(others.map(\.kind))
            let type: ValueType = kinds == ["boolean"] ? .bool : .any
            return Use(type: type, isNullable: isNullable)
        }
        let index = declare(.enumeration(body), place)
        return Use(type: .declared(index), isNullable: isNullable)
    }

    private mutating func typed(_ place: SchemaPlace) -> Use {
        let schema = place.schema
        let types = schema.typeNames.filter { $0 != "null" }
        if types.count > 1 {
            let places = types.map { type in
                var members = schema.members ?? [:]
                members["type"] = .string(type)
                return SchemaPlace(
                    schema: .object(members), pointer: place.pointer.appending("type", type),
                    hint: place.hint)
            }
            return alternatives(places, of: place)
        }
        switch types.first {
        case "string": return Use(type: Self.formats[schema["format"]?.text ?? ""] ?? .string)
        case "integer": return Use(type: .integer)
        case "number": return Use(type: .number)
        case "boolean": return Use(type: .bool)
        case "object": return object(place)
        case "array": return list(place)
        case nil where schema["properties"] != nil || schema["additionalProperties"] != nil:
            return object(place)
        case nil where schema["items"] != nil: return list(place)
        case nil: return Use(type: .any)
        case let type?:
            report(place.pointer.appending("type"), "\(type) is no type of JSON Schema")
            return Use(type: .any)
        }
    }

    private static let formats: [String: ValueType] = [
        "date-time": .date, "uri": .url, "uuid": .uuid,
    ]

    private mutating func list(_ place: SchemaPlace) -> Use {
        readList(place, element: place.hint.element)
    }

    private mutating func readList(_ place: SchemaPlace, element hint: NameHint) -> Use {
        guard let items = place.child("items", hint: hint) else { return Use(type: .array(.any)) }
        let element = read(items)
        return Use(type: .array(element.type.orNull(element.isNullable)))
    }

    // MARK: Objects

    private mutating func object(_ place: SchemaPlace) -> Use {
        if let index = indices[place.pointer] { return Use(type: .declared(index)) }
        let start = problems.count
        let parts = parts(of: place)
        let members = parts.flatMap { part in
            (part.schema["properties"]?.members ?? [:]).keys.map { ($0, part) }
        }
        guard !members.isEmpty else {
            // Nothing is said about a part that has a problem.
            return problems.count > start ? Use(type: .any) : dictionary(place, parts)
        }
        for part in parts {
            guard case .object? = part.schema["additionalProperties"] else { continue }
            report(
                part.pointer.appending("additionalProperties"),
                "a type for further members beside properties is not supported")
        }
        let required = Set(
            parts.flatMap { $0.schema["required"]?.elements ?? [] }.compactMap(\.text))
        let index = declare(.object(ObjectBody()), place)
        // A later part says more about a member than an earlier one.
        let byKey = Dictionary(members) { $1 }
        var body = ObjectBody()
        for (key, part) in byKey.sorted(by: { $0.key < $1.key }) {
            // The name is that of the part, and the same for all objects that have the part.
            let hint = NameHint(key, in: part.hint)
            guard let child = part.child("properties", key, hint: hint) else { continue }
            let use = read(child)
            body.members.append(
                Member(
                    key: key, type: use.type, isRequired: required.contains(key),
                    isNullable: use.isNullable, documentation: use.documentation,
                    constant: child.schema.constantText))
        }
        for key in required.subtracting(byKey.keys).sorted() {
            body.members.append(Member(key: key, type: .any, isRequired: true, isNullable: true))
        }
        body.identity = identity(of: body.members, place)
        models.declarations[index].body = .object(body)
        return Use(type: .declared(index))
    }

    private mutating func dictionary(_ place: SchemaPlace, _ parts: [SchemaPlace]) -> Use {
        let part = parts.last { $0.schema["additionalProperties"] != nil } ?? place
        guard part.schema["additionalProperties"] != .bool(false) else {
            let index = declare(.object(ObjectBody()), place)
            return Use(type: .declared(index))
        }
        guard let values = part.child("additionalProperties", hint: place.hint.element) else {
            return Use(type: .dictionary(.any))
        }
        let value = read(values)
        return Use(type: .dictionary(value.type.orNull(value.isNullable)))
    }

    private func identity(of members: [Member], _ place: SchemaPlace) -> ObjectBody.Identity {
        guard let member = members.first(where: { $0.key == options.idKey }) else { return .none }
        guard [.string, .integer, .uuid].contains(member.type) else {
            return .denied(reason: "`\(member.key)` is no string, integer or UUID")
        }
        guard member.isRequired else { return .denied(reason: "`\(member.key)` is not required") }
        guard !member.isNullable else { return .denied(reason: "`\(member.key)` may be null") }
        // By the name of the type, or by that of the definition.
        let name = place.hint.short
        let chosen = options.records[name] ?? options.records[place.pointer.steps.last ?? ""]
        // The type gets another name if Swift has this one, and the record keeps it.
        let isTaken = place.hint.isPrimary && Words.reservedTypes.contains(name)
        let record = chosen ?? place.schema["x-espalier-record"]?.text ?? (isTaken ? name : nil)
        return .node(key: member.key, record: record)
    }

    // MARK: Several schemas together

    /// Reads a schema with `allOf`, or with a `$ref` and keywords that add members to it.
    private mutating func joined(_ place: SchemaPlace) -> Use {
        let pieces = pieces(of: place)
        guard pieces.count < 2 else { return object(place) }
        guard let only = pieces.first else { return Use(type: .any) }
        // The keywords that stand at the place itself have been checked.
        var use = only.pointer == place.pointer ? value(only) : read(only)
        let texts = (place.schema["allOf"]?.elements ?? []).compactMap { $0["description"]?.text }
        use.documentation = texts.last ?? use.documentation
        return use
    }

    /// Returns the pieces of a schema, without a `type` that another piece implies.
    private mutating func pieces(of place: SchemaPlace) -> [SchemaPlace] {
        var kept = place.pieces.filter { !$0.schema.saysTypeOnly }
        for piece in place.pieces where piece.schema.saysTypeOnly {
            let types = Set(piece.schema.typeNames).subtracting(["null"])
            let isSaid = kept.contains { types.isSubset(of: kinds(of: $0)) }
            if !isSaid { kept.append(piece) }
        }
        return kept
    }

    /// Returns the kinds of JSON that a schema allows; an empty set if that is not known.
    ///
    /// - Parameter path: The definitions that led here, because one may lead back to itself.
    private mutating func kinds(
        of place: SchemaPlace, path: [JSONPointer] = []
    ) -> Set<String> {
        let schema = place.schema
        if schema.isPlainReference {
            // `parts` reports a reference that leads nowhere, or in a circle.
            guard let target = target(of: place), !path.contains(target.pointer) else {
                return ["object"]
            }
            return kinds(of: target, path: path + [target.pointer])
        }
        var below: [SchemaPlace] = []
        if schema.isJoined {
            below = place.pieces
        } else if let keyword = schema.alternatives {
            below = place.children(keyword)
        }
        guard !below.isEmpty else { return schema.kinds }
        return below.reduce(into: []) { $0.formUnion(kinds(of: $1, path: path)) }
    }

    /// Returns the schemas whose members an object has: its own, those of `allOf` and of `$ref`.
    ///
    /// - Parameter path: The definitions that led here, because one may lead back to itself.
    private mutating func parts(
        of place: SchemaPlace, path: [JSONPointer] = []
    ) -> [SchemaPlace] {
        guard check(place) else { return [] }
        if place.schema.isPlainReference {
            guard let target = target(of: place) else { return [] }
            guard !path.contains(target.pointer) else {
                report(place.pointer, "this reference leads back to itself")
                return []
            }
            return parts(of: target, path: path + [target.pointer])
        }
        guard place.schema.isJoined else {
            if let keyword = place.schema.alternatives {
                report(
                    place.pointer.appending(keyword),
                    "\(keyword) together with allOf or $ref is not supported")
            }
            return [place]
        }
        let pieces = pieces(of: place)
        if pieces.count > 1 {
            for piece in pieces { requireObject(piece) }
        }
        return pieces.flatMap { parts(of: $0, path: path) }
    }

    /// Reports a schema whose values are no objects: only members can be joined.
    private mutating func requireObject(_ piece: SchemaPlace) {
        let start = problems.count
        // One problem of a schema is enough. `parts` reports alternatives.
        guard check(piece), problems.count == start, piece.schema.alternatives == nil,
            !kinds(of: piece).contains("object")
        else { return }
        report(
            piece.pointer,
            "this is no object: allOf, and keywords beside a $ref, can only join objects")
    }

    // MARK: One of several

    private mutating func alternatives(_ places: [SchemaPlace], of place: SchemaPlace) -> Use {
        let others = places.filter { !$0.schema.isOnlyNull }
        var isNullable = others.count < places.count
        guard !others.isEmpty else { return Use(type: .any, isNullable: true) }
        if others.count == 1, let only = others.first {
            var use = read(only)
            use.isNullable = use.isNullable || isNullable
            return use
        }
        if let index = indices[place.pointer] {
            return Use(
                type: .declared(index), isNullable: isNullable || nullableUnions.contains(index))
        }
        let index = declare(.union(UnionBody(cases: [])), place)
        let discriminator = self.discriminator(of: others, in: place)
        var body = UnionBody(cases: [], discriminator: discriminator?.key)
        for (number, other) in others.enumerated() {
            for tag in discriminator?.tags[number].map(Optional.some) ?? [nil] {
                let own = tag ?? other.schema["title"]?.text ?? "option \(number + 1)"
                let hint = NameHint(own, in: place.hint)
                let use = read(
                    SchemaPlace(schema: other.schema, pointer: other.pointer, hint: hint))
                isNullable = isNullable || use.isNullable
                guard !body.cases.contains(where: { $0.type == use.type && $0.tag == tag })
                else { continue }
                let name = tag.map(Words.property) ?? caseName(use.type)
                body.cases.append(UnionBody.Case(name: name, type: use.type, tag: tag))
            }
        }
        models.declarations[index].body = .union(body)
        if isNullable { nullableUnions.insert(index) }
        return Use(type: .declared(index), isNullable: isNullable)
    }

    /// Returns the member that tells the alternatives apart, with its values for each of them; nil
    /// if there is none.
    ///
    /// That is the member of the `discriminator`, or else one with another constant in each
    /// alternative.
    private mutating func discriminator(
        of places: [SchemaPlace], in place: SchemaPlace
    ) -> (key: String, tags: [[String]])? {
        // `parts` reports problems, which reading the alternatives will report, too.
        let known = problems
        let members = places.map { place in
            let all = parts(of: place).flatMap { $0.schema["properties"]?.members ?? [:] }
            return Dictionary(all) { $1 }
        }
        problems = known
        let constants = members.map { $0.compactMapValues(\.constantText) }
        let chosen = place.schema["discriminator"]?["propertyName"]?.text
        if let chosen, members.allSatisfy({ $0[chosen] != nil }) {
            let tags = tags(of: places, constants: constants.map { $0[chosen] }, in: place)
            let all = tags.flatMap(\.self)
            if !tags.contains([]), Set(all).count == all.count { return (chosen, tags) }
        }
        for key in (constants.first ?? [:]).keys.sorted() {
            let values = constants.compactMap { $0[key] }
            if values.count == places.count, Set(values).count == values.count {
                return (key, values.map { [$0] })
            }
        }
        if place.schema["discriminator"] != nil {
            report(
                place.pointer.appending("discriminator"),
                "this tells nothing apart: each schema needs the member of propertyName, and a "
                    + "const there, a mapping or a definition of its own")
        }
        return nil
    }

    /// Returns the values of a discriminator for each alternative: its constant, or else those that
    /// the `mapping` has for its definition, or else the name of the definition.
    private mutating func tags(
        of places: [SchemaPlace], constants: [String?], in place: SchemaPlace
    ) -> [[String]] {
        let definitions = places.map { definition(of: $0) }
        var mapped = places.map { _ in [String]() }
        let mapping = place.schema["discriminator"]?["mapping"]?.members ?? [:]
        for (tag, value) in mapping.sorted(by: { $0.key < $1.key }) {
            let text = withoutOwnAddress(value.text ?? "")
            let pointer = JSONPointer(fragment: text)
            // OpenAPI has both references and bare names here.
            let number = definitions.firstIndex { definition in
                guard let definition else { return false }
                return pointer.map { $0 == definition } ?? (definition.steps.last == text)
            }
            if let number {
                mapped[number].append(tag)
            } else {
                report(
                    place.pointer.appending("discriminator", "mapping", tag),
                    "this leads to none of the schemas that the discriminator tells apart")
            }
        }
        return places.indices.map { number in
            if let constant = constants[number] { return [constant] }
            if !mapped[number].isEmpty { return mapped[number] }
            guard let steps = definitions[number]?.steps, let name = steps.last,
                Self.folders.contains(Array(steps.dropLast()))
            else { return [] }
            return [name]
        }
    }

    /// Returns the place of the definition to which a schema refers and adds nothing; nil if the
    /// schema is one of its own.
    private mutating func definition(of place: SchemaPlace) -> JSONPointer? {
        if place.schema.isPlainReference { return target(of: place)?.pointer }
        guard place.schema.isJoined else { return nil }
        let pieces = pieces(of: place)
        guard pieces.count == 1, let only = pieces.first else { return nil }
        return definition(of: only)
    }

    private func caseName(_ type: ValueType) -> String {
        switch type {
        case .bool: "bool"
        case .integer, .unsigned: "integer"
        case .number: "number"
        case .string: "string"
        case .date: "date"
        case .url: "url"
        case .uuid: "uuid"
        case .any: "any"
        case .declared(let index): Words.property(models.declarations[index].shortName)
        case .array(let element): caseName(element) + "List"
        case .dictionary(let value): caseName(value) + "Map"
        case .optional(let wrapped): caseName(wrapped)
        }
    }

    // MARK: Declarations

    private mutating func declare(_ body: Declaration.Body, _ place: SchemaPlace) -> Int {
        let index = models.add(
            Declaration(
                shortName: place.hint.short, longName: place.hint.long,
                isPrimary: place.hint.isPrimary,
                // That of another place is the text of the member there.
                documentation: place.hint.isPrimary
                    ? place.schema["description"]?.text : nil,
                body: body))
        indices[place.pointer] = index
        return index
    }
}

extension Array where Element: Hashable {
    /// The elements, each of them once.
    fileprivate var uniqued: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
