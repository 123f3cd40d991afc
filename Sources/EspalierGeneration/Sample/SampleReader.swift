/// Makes types from samples: documents that a server has sent.
struct SampleReader {
    private let options: GenerationOptions
    private let types: SampleTypes
    private var models: ModelSet
    /// The declaration of a type, by the number of its first place.
    private var indices: [Int: Int] = [:]

    /// Reads documents of one kind, which together show what may be missing or null.
    ///
    /// - Parameters:
    ///   - documents: The samples.
    ///   - name: The name of the first file.
    ///   - options: What the user chose.
    static func models(
        of documents: [JSON], name: String, options: GenerationOptions
    ) throws(GenerationError) -> ModelSet {
        let root = SamplePlace(property: "")
        for document in documents { root.add(document) }
        let stem = Words.type(String(name.prefix { $0 != "." }))
        let isList = documents.contains { $0.elements != nil }
        let rootName = options.rootType.map(Words.type) ?? (isList ? Words.singular(stem) : stem)
        let types = SampleTypes(root: root, rootName: rootName, options: options)
        guard !types.places.isEmpty else {
            throw GenerationError([Problem(name, "", "there is no object to make a type of")])
        }
        // A name that is misspelled would do nothing without a word.
        let strangers = Set(options.records.keys).subtracting(types.places.map(\.property))
        guard strangers.isEmpty else {
            throw GenerationError(
                strangers.sorted().map {
                    Problem(name, "", "a type is given for `\($0)`, under which no object stands")
                })
        }
        var reader = SampleReader(
            options: options, types: types, models: ModelSet(rootName: rootName))
        reader.models.root = reader.type(of: [root]).type
        return reader.models
    }

    private init(options: GenerationOptions, types: SampleTypes, models: ModelSet) {
        self.options = options
        self.types = types
        self.models = models
    }

    // MARK: Values

    /// Returns the type of the values at several places, which are one member of one type.
    private mutating func type(of places: [SamplePlace]) -> (type: ValueType, isNullable: Bool) {
        let isNullable = places.contains { $0.nulls > 0 }
        let kinds = [
            places.contains { $0.bools > 0 }, places.contains { $0.wholes + $0.numbers > 0 },
            places.contains { $0.strings > 0 }, places.contains { $0.arrays > 0 },
            places.contains { $0.number != nil }, places.contains { $0.values != nil },
        ]
        // Nothing but null, or values of several kinds.
        guard kinds.count(where: { $0 }) == 1, let kind = kinds.firstIndex(of: true) else {
            return (.any, isNullable)
        }
        switch kind {
        case 0: return (.bool, isNullable)
        case 1: return (number(at: places), isNullable)
        case 2: return (text(of: places), isNullable)
        case 3:
            let element = type(of: places.compactMap(\.element).filter { $0.count > 0 })
            return (.array(element.type.orNull(element.isNullable)), isNullable)
        case 4: return (object(places.first { $0.number != nil }), isNullable)
        default:
            let value = type(of: places.compactMap(\.values))
            return (.dictionary(value.type.orNull(value.isNullable)), isNullable)
        }
    }

    private func number(at places: [SamplePlace]) -> ValueType {
        if places.contains(where: { $0.numbers > 0 }) { return .number }
        guard places.contains(where: { $0.unsigneds > 0 }) else { return .integer }
        return places.contains { $0.negatives > 0 } ? .number : .unsigned
    }

    private func text(of places: [SamplePlace]) -> ValueType {
        guard !options.keepsStrings else { return .string }
        return places.filter { $0.strings > 0 }
            .reduce(TextFormat.all) { $0.intersection($1.formats) }.type
    }

    // MARK: Objects

    private mutating func object(_ place: SamplePlace?) -> ValueType {
        guard let place else { return .any }
        let type = types.type(of: place)
        if let index = indices[type] { return .declared(index) }
        let (group, names) = (types.group(type), names(of: type))
        // Objects that are always empty may have any members in other documents.
        let isEmpty = group.allSatisfy { $0.objects.allSatisfy(\.isEmpty) }
        let isNamed = group.contains { options.records[$0.property] != nil }
        guard !isEmpty || isNamed || place.number == 0 else { return .any }
        let index = models.add(
            Declaration(
                shortName: names.short, longName: names.long, isPrimary: names.isPrimary,
                body: .object(ObjectBody())))
        indices[type] = index
        let isNode = types.isNode(place)
        let count = group.reduce(0) { $0 + $1.objects.count }
        var body = ObjectBody()
        for key in Set(group.flatMap(\.members.keys)).sorted() {
            let places = group.compactMap { $0.members[key] }
            // All projections of a record have to read what one of them has written.
            let others = isNode ? types.projections(of: place).filter { !group.contains($0) } : []
            var found = self.type(of: places + others.compactMap { $0.members[key] })
            // An identifier is a text or a number, whatever it looks like.
            if isNode, key == options.idKey, ![.integer, .unsigned].contains(found.type) {
                found.type = .string
            }
            body.members.append(
                Member(
                    key: key, type: found.type,
                    isRequired: places.reduce(0) { $0 + $1.count } == count,
                    isNullable: found.isNullable || types.leadsBack(key, of: group + others)))
        }
        if isNode {
            body.identity = .node(key: options.idKey, record: types.record(of: place))
        } else if body.members.contains(where: { $0.key == options.idKey }) {
            body.identity = .denied(reason: types.reasonAgainstNode(type))
        }
        models.declarations[index].body = .object(body)
        return .declared(index)
    }

    // MARK: Names

    /// Returns the names that a type may get.
    private func names(of type: Int) -> (short: String, long: String, isPrimary: Bool) {
        let group = types.group(type)
        let isChosen = group.contains { options.records[$0.property] != nil }
        if group.contains(where: { $0.property.isEmpty }) {
            return (models.rootName, models.rootName, true)
        }
        if types.isNode(group[0]) {
            let record = types.record(of: group[0])
            let isLargest = isLargest(type, of: record)
            let short = isLargest ? Words.type(record) : propertyName(of: group)
            return (short, parentName(of: group[0]) + short, isLargest)
        }
        if isChosen {
            let name = Words.type(types.record(of: group[0]))
            return (name, name, true)
        }
        let short = propertyName(of: group)
        return (short, parentName(of: group[0]) + short, false)
    }

    /// Whether a type has the most members of all projections of a record, and so its name.
    private func isLargest(_ type: Int, of record: String) -> Bool {
        let projections = Set(
            types.places.filter { types.isNode($0) && types.record(of: $0) == record }
                .map(types.type))
        let sizes = projections.map { type in
            (type: type, size: Set(types.group(type).flatMap(\.members.keys)).count)
        }
        let largest = sizes.max { ($0.size, $1.type) < ($1.size, $0.type) }
        return largest?.type == type
    }

    private func propertyName(of group: [SamplePlace]) -> String {
        let names = Set(group.map(types.propertyName))
        let parents = group.map { place in place.parent.map { types.places[$0] } }
        let parentTypes = Set(parents.map { $0.map(types.type) })
        // `sizes` with `small` and `large` has values of the type `Size`.
        if names.count > 1, parentTypes.count == 1, let parent = parents[0] {
            let name = parent.property
            if Words.singular(name) != name { return Words.type(Words.singular(name)) }
        }
        // The name under which most objects stand.
        let counts = Dictionary(
            group.map { (types.propertyName(of: $0), $0.objects.count) }, uniquingKeysWith: +)
        let most = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return most?.key ?? models.rootName
    }

    /// The name in front of the long name of a type: those of the objects around it, up to a node.
    private func parentName(of place: SamplePlace) -> String {
        guard let parent = place.parent.map({ types.places[$0] }) else { return "" }
        if types.isNode(parent) { return names(of: types.type(of: parent)).short }
        return parentName(of: parent) + types.propertyName(of: parent)
    }
}
