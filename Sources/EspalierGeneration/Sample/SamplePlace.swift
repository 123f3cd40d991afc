/// What a sample has at one place, such as `statuses[].user`.
///
/// The elements of an array have one place together, and so have the members of the same name of
/// all objects at a place. The places form a tree, which later steps only read.
final class SamplePlace: Equatable {
    /// The property under which the value stands; that of the array for its elements.
    let property: String
    /// Whether these are the elements of an array.
    let isElement: Bool
    /// The number of a place with objects, for tables beside the tree; nil for all others.
    private(set) var number: Int?
    /// The number of the place whose objects contain this one.
    private(set) var parent: Int?

    private(set) var nulls = 0
    private(set) var bools = 0
    private(set) var integers = 0
    /// Integers below zero, which are integers as well.
    private(set) var negatives = 0
    private(set) var unsigneds = 0
    private(set) var numbers = 0
    private(set) var strings = 0
    private(set) var arrays = 0
    private(set) var formats = TextFormat.all
    private(set) var objects: [[String: JSON]] = []
    private(set) var members: [String: SamplePlace] = [:]
    private(set) var element: SamplePlace?
    /// The values of a dictionary, whose keys are data.
    private(set) var values: SamplePlace?

    init(property: String, isElement: Bool = false) {
        self.property = property
        self.isElement = isElement
    }

    /// Adds a value at this place, with all that is in it.
    func add(_ value: JSON) {
        switch value {
        case .null: nulls += 1
        case .bool: bools += 1
        case .integer(let value):
            integers += 1
            if value < 0 { negatives += 1 }
        case .unsigned: unsigneds += 1
        case .number: numbers += 1
        case .string(let text):
            strings += 1
            // A place that is nothing already need not be looked at again.
            if !formats.isEmpty { formats.formIntersection(TextFormat(of: text)) }
        case .array(let values):
            arrays += 1
            let element = element ?? SamplePlace(property: property, isElement: true)
            self.element = element
            for value in values { element.add(value) }
        case .object(let object):
            objects.append(object)
            for (key, value) in object {
                let place = members[key] ?? SamplePlace(property: key)
                members[key] = place
                place.add(value)
            }
        }
    }

    static func == (a: SamplePlace, b: SamplePlace) -> Bool { a === b }

    /// The members in the order of their names.
    var sortedMembers: [(key: String, value: SamplePlace)] {
        members.sorted { $0.key < $1.key }
    }

    /// The members that every object has.
    var required: Set<String> {
        Set(members.filter { $0.value.count == objects.count }.keys)
    }

    /// The number of values.
    var count: Int { nulls + bools + wholes + numbers + strings + arrays + objects.count }

    /// The number of whole numbers.
    var wholes: Int { integers + unsigneds }

    /// Whether the keys are data, as in `{"2014-08-31": 7}`: at least half of them are no names, or
    /// there are many objects of nearly the same members under them, as in
    /// `{"-NaB3": {"x": 1}, ...}`.
    ///
    /// An object with an identifier is no dictionary, and neither is one of several objects that
    /// all have the same keys. An object with an empty key is one, because no property can have
    /// that name.
    private func hasDataAsKeys(_ idKey: String) -> Bool {
        let isEverywhere = { (place: SamplePlace) in place.count == self.objects.count }
        if members[idKey].map(isEverywhere) == true { return false }
        if members[""] != nil { return true }
        if objects.count > 1, members.values.allSatisfy(isEverywhere) { return false }
        if members.count >= Self.manyMembers, hasEqualObjects { return true }
        let others = members.keys.count { key in
            key.first?.isNumber == true || key.contains { " /:".contains($0) }
        }
        return others > 0 && others * 2 >= members.count
    }

    /// From how many equal members on an object is a dictionary.
    private static let manyMembers = 8

    /// Whether all members are objects with nearly the same names of members: at least half of the
    /// names are those of all objects.
    private var hasEqualObjects: Bool {
        var (common, all): (Set<String>?, Set<String>) = (nil, [])
        for value in objects.flatMap(\.values) {
            guard let members = value.members, !members.isEmpty else { return false }
            let names = Set(members.keys)
            common = common?.intersection(names) ?? names
            all.formUnion(names)
        }
        guard let common, !common.isEmpty else { return false }
        return common.count * 2 >= all.count
    }

    /// Finds the dictionaries, and numbers all other places with objects from here on. Returns them
    /// in the order of their paths.
    ///
    /// - Parameter idKey: The name of the member that identifies an object.
    func numbered(
        from places: [SamplePlace] = [], parent: Int? = nil, idKey: String
    ) -> [SamplePlace] {
        var places = places
        self.parent = parent
        if hasDataAsKeys(idKey) {
            let values = SamplePlace(property: property, isElement: true)
            for value in objects.flatMap(\.values) { values.add(value) }
            self.values = values
            members = [:]
            places = values.numbered(from: places, parent: parent, idKey: idKey)
        } else if !objects.isEmpty {
            number = places.count
            places.append(self)
        }
        for (_, member) in sortedMembers {
            places = member.numbered(from: places, parent: number, idKey: idKey)
        }
        return element?.numbered(from: places, parent: parent, idKey: idKey) ?? places
    }
}
