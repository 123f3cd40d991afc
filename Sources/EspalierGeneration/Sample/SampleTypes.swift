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
    /// The names of types after their properties, by the number of a place.
    private let names: [String]
    /// The names of records, by the number of a place.
    private let records: [String]
    /// The places with identifiers, by the name of their record.
    private let placesByRecord: [String: [SamplePlace]]
    /// The places of each type, and the names of their members, once all types are known.
    private var groupsByType: [Int: [SamplePlace]] = [:]
    private var keysByType: [Int: [String]] = [:]
    /// Why a type with identifiers is no node all the same, by the number of its first place.
    private var denied: [Int: String] = [:]
    /// The members through which a node leads back to itself.
    private var backReferences: Set<Reference> = []

    init(root: SamplePlace, rootName: String, options: GenerationOptions) {
        self.options = options
        self.rootName = rootName
        let places = root.numbered(idKey: options.idKey)
        self.places = places
        types = Array(places.indices)
        let names = places.map { Self.name(of: $0, in: places, options) }
        self.names = names
        let records = places.indices.map { index in
            let property = places[index].property
            return property.isEmpty ? rootName : options.records[property] ?? names[index]
        }
        self.records = records
        placesByRecord = Dictionary(
            grouping: places.filter { Self.identifierKind($0, options) != nil }
        ) { $0.number.map { records[$0] } ?? "" }
        unifyAll()
        groupsByType = Dictionary(grouping: places) { type(of: $0) }
        keysByType = groupsByType.mapValues { Set($0.flatMap(\.members.keys)).sorted() }
        for group in groups {
            // `User:7` would be both the user 7 and the user "7".
            let kinds = group.flatMap { projections(of: $0) }.map(identifierKind)
            guard Set(kinds).count > 1 else { continue }
            denied[type(of: group[0])] = "`\(options.idKey)` is not of one kind everywhere"
        }
        // What is no node stands inside of others, which may contradict each other from then on.
        while let found = contradiction() { denied.merge(found) { first, _ in first } }
        backReferences = findBackReferences()
    }

    /// The places of each type, in the order of the first ones.
    var groups: [[SamplePlace]] {
        Dictionary(grouping: places) { type(of: $0) }.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The places of one type.
    ///
    /// - Parameter type: The number of the first one.
    func group(_ type: Int) -> [SamplePlace] { groupsByType[type] ?? [] }

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
        return placesByRecord[record(of: place)] ?? [place]
    }

    /// Returns why the objects of a type are no nodes, although they have a member for it.
    func reasonAgainstNode(_ type: Int) -> String {
        if let reason = denied[type] { return reason }
        let isEverywhere = group(type).allSatisfy {
            $0.members[options.idKey]?.count == $0.objects.count
        }
        guard isEverywhere else { return "not every object has `\(options.idKey)`" }
        return
            "`\(options.idKey)` is neither a string in all objects nor a whole number in all"
    }

    /// The name of the record of the objects at a place, if they are nodes; for others a name that
    /// the user has chosen for their type, or that of the property.
    func record(of place: SamplePlace) -> String {
        if let number = place.number { return records[number] }
        if place.property.isEmpty { return rootName }
        return options.records[place.property] ?? Self.name(of: place, in: places, options)
    }

    /// The name of a type after the property.
    func propertyName(of place: SamplePlace) -> String {
        if place.property.isEmpty { return rootName }
        return place.number.map { names[$0] } ?? Self.name(of: place, in: places, options)
    }

    /// Returns the name of a type after the property. Properties that only wrap others do not tell
    /// what has an identifier: in `{"issues": {"nodes": [{"id": 1}]}}` the objects are issues, and
    /// in another member they are something else.
    private static func name(
        of place: SamplePlace, in places: [SamplePlace], _ options: GenerationOptions
    ) -> String {
        func name(_ property: String, isElement: Bool) -> String {
            Words.type(isElement ? Words.singular(property) : property)
        }
        var (around, isElement) = (place, place.isElement)
        while wrappers.contains(around.property.lowercased()) {
            // What only wrappers are around has the name of its own.
            guard identifierKind(place, options) != nil, let parent = around.parent,
                !places[parent].property.isEmpty
            else { return name(place.property, isElement: place.isElement) }
            around = places[parent]
            isElement = isElement || around.isElement
        }
        return name(around.property, isElement: isElement)
    }

    /// Names of members that hold other things, whatever these are.
    private static let wrappers: Set<String> = [
        "data", "edges", "elements", "entries", "items", "list", "node", "nodes", "objects",
        "records", "results", "rows", "values",
    ]

    /// The kind of the identifiers at a place; nil if an object has none.
    private func identifierKind(_ place: SamplePlace) -> String? {
        Self.identifierKind(place, options)
    }

    private static func identifierKind(
        _ place: SamplePlace, _ options: GenerationOptions
    ) -> String? {
        guard let id = place.members[options.idKey], !place.objects.isEmpty else { return nil }
        switch place.objects.count {
        case id.strings: return "string"
        case id.wholes: return "integer"
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
                let members = Members()
                for place in group { isChanged = unifyMembers(place, members) || isChanged }
                for other in projections(of: group[0]) where type(of: other) > type(of: group[0]) {
                    isChanged = unifyProjection(other, members) || isChanged
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
        if place.wholes + place.numbers > 0 { kinds.append("number") }
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

    /// The first values that the places of one type have under the same names. To compare all pairs
    /// of places would take minutes for an object with thousands of equal members.
    private final class Members { var values: [String: Values] = [:] }

    /// The first values under one name: an object with an identifier, one without, the values of a
    /// dictionary, and the elements of an array.
    private final class Values {
        var node: SamplePlace?
        var other: SamplePlace?
        var dictionary: Values?
        var elements: Values?
    }

    /// Makes the values of a place one type each with those of the places before, and adds it to
    /// these.
    private mutating func unifyMembers(_ place: SamplePlace, _ members: Members) -> Bool {
        var isChanged = false
        for (key, member) in place.sortedMembers {
            let values = members.values[key] ?? Values()
            members.values[key] = values
            isChanged = unify(member, values) || isChanged
        }
        return isChanged
    }

    private mutating func unify(_ place: SamplePlace, _ values: Values) -> Bool {
        var isChanged = false
        if place.number != nil {
            if let first = values.node ?? values.other { isChanged = unify(first, place) }
            if identifierKind(place) != nil {
                values.node = values.node ?? place
            } else {
                values.other = values.other ?? place
            }
        }
        if let dictionary = place.values {
            let known = values.dictionary ?? Values()
            values.dictionary = known
            isChanged = unify(dictionary, known) || isChanged
        }
        if let element = place.element {
            let known = values.elements ?? Values()
            values.elements = known
            isChanged = unify(element, known) || isChanged
        }
        return isChanged
    }

    /// Makes the values of a projection one type each with those of another one, except for nodes,
    /// which may be projections themselves.
    private mutating func unifyProjection(_ place: SamplePlace, _ members: Members) -> Bool {
        var isChanged = false
        for (key, member) in place.sortedMembers {
            isChanged = unifyProjected(member, members.values[key]) || isChanged
        }
        return isChanged
    }

    private mutating func unifyProjected(_ place: SamplePlace?, _ values: Values?) -> Bool {
        guard let place, let values else { return false }
        var isChanged = false
        if place.number != nil {
            if let other = values.other { isChanged = unify(other, place) }
            if let node = values.node, identifierKind(place) == nil {
                isChanged = unify(node, place) || isChanged
            }
        }
        isChanged = unifyProjected(place.values, values.dictionary) || isChanged
        return unifyProjected(place.element, values.elements) || isChanged
    }

    // MARK: References back

    /// A member that holds a single node, of the type with that number.
    private struct Reference: Hashable {
        let type: Int
        let key: String
    }

    /// Whether a member of one of several places refers to a node that leads back to the object.
    ///
    /// A read leaves out a reference to a node that it is reading, so the member has to allow that:
    /// as a required one it would make each read of the node a miss.
    func leadsBack(_ key: String, of places: [SamplePlace]) -> Bool {
        places.contains { backReferences.contains(Reference(type: type(of: $0), key: key)) }
    }

    private func findBackReferences() -> Set<Reference> {
        var graph = NodeGraph()
        for place in places where isNode(place) {
            for object in place.objects {
                guard let id = object[options.idKey] else { continue }
                let node = graph.node(record(of: place), id)
                for (key, value) in object {
                    guard let member = place.members[key] else { continue }
                    let reference = Reference(type: type(of: place), key: key)
                    addReferences(in: value, at: member, of: node, by: reference, to: &graph)
                }
            }
        }
        return graph.referencesOnCycles()
    }

    /// Adds the nodes in a value to those to which a node refers.
    ///
    /// - Parameter reference: The member that has only this value; nil in an array or a dictionary,
    ///   which leave out an element.
    private func addReferences(
        in value: JSON, at place: SamplePlace, of node: Int, by reference: Reference?,
        to graph: inout NodeGraph
    ) {
        switch value {
        case .array(let elements):
            guard let element = place.element else { return }
            for value in elements {
                addReferences(in: value, at: element, of: node, by: nil, to: &graph)
            }
        case .object(let object):
            if isNode(place), let id = object[options.idKey] {
                return graph.add(graph.node(record(of: place), id), to: node, by: reference)
            }
            for (key, value) in object {
                if let values = place.values {
                    addReferences(in: value, at: values, of: node, by: nil, to: &graph)
                } else if let member = place.members[key] {
                    let reference = Reference(type: type(of: place), key: key)
                    addReferences(in: value, at: member, of: node, by: reference, to: &graph)
                }
            }
        default: return
        }
    }

    /// The nodes of a sample, and the nodes to which each of them refers.
    private struct NodeGraph {
        private var nodes: [String: [JSON: Int]] = [:]
        private var edges: [[(target: Int, reference: Reference?)]] = []

        /// Returns the number of a node.
        mutating func node(_ record: String, _ id: JSON) -> Int {
            if let known = nodes[record]?[id] { return known }
            edges.append([])
            nodes[record, default: [:]][id] = edges.count - 1
            return edges.count - 1
        }

        mutating func add(_ target: Int, to node: Int, by reference: Reference?) {
            edges[node].append((target, reference))
        }

        /// Returns the references whose two nodes lead to each other.
        func referencesOnCycles() -> Set<Reference> {
            let components = components()
            var found: Set<Reference> = []
            for (node, edges) in edges.enumerated() {
                for edge in edges where components[edge.target] == components[node] {
                    if let reference = edge.reference { found.insert(reference) }
                }
            }
            return found
        }

        /// Returns the number of the strongly connected component of each node, by Tarjan's
        /// algorithm, without recursion.
        private func components() -> [Int] {
            var components = [Int](repeating: -1, count: edges.count)
            var (order, lowest) = (components, components)
            var (visited, count) = (0, 0)
            var open: [Int] = []
            var path: [(node: Int, next: Int)] = []
            func enter(_ node: Int) {
                (order[node], lowest[node]) = (visited, visited)
                visited += 1
                open.append(node)
                path.append((node, 0))
            }
            for start in edges.indices where order[start] < 0 {
                enter(start)
                while let (node, next) = path.last {
                    guard next == edges[node].count else {
                        path[path.count - 1].next += 1
                        let target = edges[node][next].target
                        if order[target] < 0 {
                            enter(target)
                        } else if components[target] < 0 {
                            lowest[node] = min(lowest[node], order[target])
                        }
                        continue
                    }
                    path.removeLast()
                    if let (parent, _) = path.last {
                        lowest[parent] = min(lowest[parent], lowest[node])
                    }
                    guard lowest[node] == order[node] else { continue }
                    while let member = open.popLast() {
                        components[member] = count
                        if member == node { break }
                    }
                    count += 1
                }
            }
            return components
        }
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
            let keys = keysByType[type] ?? []
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
