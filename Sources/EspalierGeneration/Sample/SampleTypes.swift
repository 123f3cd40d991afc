/// Decides which objects of a sample are of one type, and which types are nodes.
///
/// - Two places with identifiers are one type if their record has the same name and if the same
///   members are always there. With other members they are projections of one record.
/// - Two places without identifiers are one type if they have the same members of the same kinds.
/// - If two places are one type, so are the values of their members. In projections, so are the
///   values without an identifier: a record has each of them once.
///
/// A type is a node if all its objects have an identifier, and if no two objects with one
/// identifier contradict each other in a member that both have: a mention in a text has the `id` of
/// a user, and a position of its own. To make it a node would lose a position.
struct SampleTypes {
    private let options: GenerationOptions
    private let rootName: String
    /// All places with objects, by number.
    let places: [SamplePlace]
    /// The number of the first place of the same type, by the number of a place.
    private var types: [Int]
    /// Why a type with identifiers is no node all the same, by the number of its first place.
    private var denied: [Int: String] = [:]

    init(root: SamplePlace, rootName: String, options: GenerationOptions) {
        self.options = options
        self.rootName = rootName
        places = root.numbered()
        types = Array(places.indices)
        unifyAll()
        for group in groups {
            // `User:7` would be both the user 7 and the user "7".
            let kinds = group.flatMap { projections(of: $0) }.map(identifierKind)
            guard Set(kinds).count > 1 else { continue }
            denied[type(of: group[0])] = "`\(options.idKey)` is not of one kind everywhere"
        }
        // What is no node stands inside of others, which may contradict each other from then on.
        while let found = contradiction() { denied.merge(found) { first, _ in first } }
    }

    /// The places of each type, in the order of the first ones.
    var groups: [[SamplePlace]] {
        Dictionary(grouping: places) { type(of: $0) }.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The places of one type.
    ///
    /// - Parameter type: The number of the first one.
    func group(_ type: Int) -> [SamplePlace] { places.filter { self.type(of: $0) == type } }

    /// The number of the first place of the type of a place with objects.
    func type(of place: SamplePlace) -> Int { place.number.map { types[$0] } ?? -1 }

    // MARK: Nodes

    /// Whether the objects at a place are nodes.
    func isNode(_ place: SamplePlace) -> Bool {
        identifierKind(place) != nil && denied[type(of: place)] == nil
    }

    /// The places with identifiers whose objects are in the same records, and the place itself.
    func projections(of place: SamplePlace) -> [SamplePlace] {
        guard identifierKind(place) != nil else { return [place] }
        let record = record(of: place)
        return places.filter { identifierKind($0) != nil && self.record(of: $0) == record }
    }

    /// Returns why the objects of a type are no nodes, although they have a member for it.
    func reasonAgainstNode(_ type: Int) -> String {
        denied[type] ?? "not every object has `\(options.idKey)`"
    }

    /// The name of the record of the objects at a place, if they are nodes; for others a name that
    /// the user has chosen for their type, or that of the property.
    func record(of place: SamplePlace) -> String {
        if place.property.isEmpty { return rootName }
        return options.records[place.property] ?? propertyName(of: place)
    }

    /// The name of a type after the property.
    func propertyName(of place: SamplePlace) -> String {
        if place.property.isEmpty { return rootName }
        return Words.type(place.isElement ? Words.singular(place.property) : place.property)
    }

    /// The kind of the identifiers at a place; nil if an object has none.
    private func identifierKind(_ place: SamplePlace) -> String? {
        guard let id = place.members[options.idKey], !place.objects.isEmpty else { return nil }
        switch place.objects.count {
        case id.strings: return "string"
        case id.integers: return "integer"
        default: return nil
        }
    }

    // MARK: One type

    private mutating func unifyAll() {
        var isChanged = true
        while isChanged {
            isChanged = false
            var known: [String: SamplePlace] = [:]
            for group in groups {
                guard let signature = signature(group) else { continue }
                if let first = known[signature] {
                    isChanged = unify(first, group[0]) || isChanged
                } else {
                    known[signature] = group[0]
                }
            }
            for group in groups {
                // Not only with the first one, which may lack a member that two others have.
                for (number, place) in group.enumerated() {
                    for other in group[(number + 1)...] {
                        isChanged = unifyMembers(place, other, isProjection: false) || isChanged
                    }
                }
                for other in projections(of: group[0]) where type(of: other) > type(of: group[0]) {
                    for place in group {
                        isChanged = unifyMembers(place, other, isProjection: true) || isChanged
                    }
                }
            }
        }
    }

    /// Returns a text that two types have in common if they are one; nil for a type that has too
    /// little to tell.
    private func signature(_ group: [SamplePlace]) -> String? {
        let first = group[0]
        let required = group.dropFirst().reduce(first.required) { $0.intersection($1.required) }
        if let kind = identifierKind(first), group.allSatisfy({ identifierKind($0) == kind }) {
            return "\(record(of: first)) \(kind) \(required.sorted())"
        }
        let keys = Set(group.flatMap(\.members.keys))
        // One member in common is little evidence.
        guard keys.count > 1, !required.isEmpty, !first.property.isEmpty else { return nil }
        let members = keys.sorted().map { key in
            let kinds = Set(group.compactMap { $0.members[key] }.flatMap(kinds)).sorted()
            return "\(key)\(required.contains(key) ? "" : "?"):\(kinds)"
        }
        return members.joined(separator: " ")
    }

    /// The kinds of values at a place, with the types of objects.
    private func kinds(_ place: SamplePlace) -> [String] {
        var kinds: [String] = []
        if place.bools > 0 { kinds.append("bool") }
        if place.integers + place.numbers > 0 { kinds.append("number") }
        if place.strings > 0 { kinds.append("string") }
        if place.number != nil { kinds.append("object \(type(of: place))") }
        if let values = place.values { kinds += self.kinds(values).map { "{\($0)}" } }
        if let element = place.element { kinds += self.kinds(element).map { "[\($0)]" } }
        return kinds
    }

    /// Makes two places with objects one type. Returns whether that is new.
    private mutating func unify(_ a: SamplePlace, _ b: SamplePlace) -> Bool {
        let (first, second) = (type(of: a), type(of: b))
        guard first != second else { return false }
        for index in types.indices where types[index] == max(first, second) {
            types[index] = min(first, second)
        }
        return true
    }

    /// Makes the values of all members that two places have one type each.
    ///
    /// - Parameter isProjection: Whether the places are projections, whose members may be
    ///   projections themselves.
    private mutating func unifyMembers(
        _ a: SamplePlace, _ b: SamplePlace, isProjection: Bool
    ) -> Bool {
        var isChanged = false
        for (key, member) in a.sortedMembers {
            isChanged = unifyValues(member, b.members[key], isProjection) || isChanged
        }
        return isChanged
    }

    private mutating func unifyValues(
        _ a: SamplePlace?, _ b: SamplePlace?, _ isProjection: Bool
    ) -> Bool {
        guard let a, let b else { return false }
        var isChanged = false
        let areNodes = identifierKind(a) != nil && identifierKind(b) != nil
        if a.number != nil, b.number != nil, !isProjection || !areNodes { isChanged = unify(a, b) }
        isChanged = unifyValues(a.values, b.values, isProjection) || isChanged
        return unifyValues(a.element, b.element, isProjection) || isChanged
    }

    // MARK: Contradictions

    /// Finds two nodes with one identifier that differ in a member. Returns the reason for both
    /// types.
    private func contradiction() -> [Int: String]? {
        struct Known {
            let content: JSON?
            let type: Int
        }
        var known: [String: [JSON: [String: Known]]] = [:]
        for place in places where isNode(place) {
            let (record, type) = (record(of: place), type(of: place))
            let keys = Set(group(type).flatMap(\.members.keys)).sorted()
            for object in place.objects {
                guard let id = object[options.idKey] else { continue }
                for key in keys {
                    // If nothing is left out for want of knowledge, a missing member says
                    // something, too.
                    guard object[key] != nil || options.absence == .none else { continue }
                    let content = object[key].map { value in
                        place.members[key].map { flattened(value, at: $0) } ?? value
                    }
                    guard let earlier = known[record]?[id]?[key] else {
                        known[record, default: [:]][id, default: [:]][key] = Known(
                            content: content, type: type)
                        continue
                    }
                    guard earlier.content != content else { continue }
                    let reason =
                        "two objects of the sample have one `\(options.idKey)` and another `\(key)`"
                    return Dictionary([(type, reason), (earlier.type, reason)]) { first, _ in first
                    }
                }
            }
        }
        return nil
    }

    /// Returns the value with references in place of nodes, as a record has it.
    private func flattened(_ value: JSON, at place: SamplePlace) -> JSON {
        switch value {
        case .array(let elements):
            guard let element = place.element else { return value }
            return .array(elements.map { flattened($0, at: element) })
        case .object(let object):
            if isNode(place), let id = object[options.idKey] {
                return .array([.string(record(of: place)), id])
            }
            return .object(
                Dictionary(
                    uniqueKeysWithValues: object.map { key, value in
                        let member = place.values ?? place.members[key]
                        return (key, member.map { flattened(value, at: $0) } ?? value)
                    }))
        default: return value
        }
    }
}
