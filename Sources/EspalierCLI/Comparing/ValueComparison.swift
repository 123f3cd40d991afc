import EspalierRecords

/// Finds where two values differ, which are written in `ValueNotation`. The order of members is no
/// difference.
struct ValueComparison {
    private(set) var differences: [FieldDifference] = []

    /// Up to so many elements of arrays of one length are compared each with the one at its place,
    /// and so many runs are told.
    private static let mostPlaces = 10

    mutating func compare(_ a: JSONValue, _ b: JSONValue, at path: FieldPath = FieldPath()) {
        switch (a, b) {
        case (.array(let left), .array(let right)): compare(left, right, at: path)
        case (.object(let left), .object(let right)):
            guard let left = Entries(left), let right = Entries(right) else {
                return compareWhole(a, b, at: path)
            }
            compare(left, right, at: path)
        default: compareWhole(a, b, at: path)
        }
    }

    private mutating func compareWhole(_ a: JSONValue, _ b: JSONValue, at path: FieldPath) {
        if a.content != b.content { add(path, .value(a), .value(b)) }
    }

    /// The same where one side may have nothing, which is a difference as a whole. Nothing is not
    /// null.
    mutating func compare(_ a: JSONValue, toOptional b: JSONValue?, at path: FieldPath) {
        if let b { compare(a, b, at: path) } else { add(path, .value(a), .nothing) }
    }

    mutating func add(_ path: FieldPath, _ a: FieldDifference.Side, _ b: FieldDifference.Side) {
        add(path.description, a, b)
    }

    mutating func add(_ path: String, _ a: FieldDifference.Side, _ b: FieldDifference.Side) {
        differences.append(FieldDifference(path: path, a: a, b: b))
    }

    private mutating func compare(_ a: Entries, _ b: Entries, at path: FieldPath) {
        for (step, value) in a.list {
            compare(value, toOptional: b.values[step], at: path.appending(step))
        }
        for (step, value) in b.list where !a.values.keys.contains(step) {
            add(path.appending(step), .nothing, .value(value))
        }
    }

    // MARK: Arrays

    private mutating func compare(_ a: [JSONValue], _ b: [JSONValue], at path: FieldPath) {
        let (left, right) = (a.map(\.content), b.map(\.content))
        guard left != right else { return }
        if a.count == b.count {
            let places = a.indices.filter { left[$0] != right[$0] }
            if places.count <= Self.mostPlaces {
                for place in places {
                    compare(a[place], b[place], at: path.appending(.index(place)))
                }
                return
            }
        }
        let runs = ArrayComparison(left, right).runs
        // A count says what so many runs would not.
        let shown = runs.count <= Self.mostPlaces ? runs[...] : runs.prefix(Self.mostPlaces - 1)
        for run in shown {
            let places = run.a.isEmpty ? run.b : run.a
            add(path.description + Self.shown(places), Self.side(a[run.a]), Self.side(b[run.b]))
        }
        guard let rest = runs.dropFirst(shown.count).first, let last = runs.last else { return }
        add(
            path.description + Self.shown(rest.a.lowerBound..<last.a.upperBound),
            Self.side(a[rest.a.lowerBound..<last.a.upperBound]),
            Self.side(b[rest.b.lowerBound..<last.b.upperBound]))
    }

    private static func side(_ elements: ArraySlice<JSONValue>) -> FieldDifference.Side {
        elements.isEmpty ? .nothing : .elements(Array(elements))
    }

    private static func shown(_ places: Range<Int>) -> String {
        places.count == 1
            ? "[\(places.lowerBound)]" : "[\(places.lowerBound)-\(places.upperBound - 1)]"
    }
}

/// The entries of a map by key, whichever way it is written.
private struct Entries {
    private(set) var list: [(step: FieldPath.Step, value: JSONValue)] = []
    private(set) var values: [FieldPath.Step: JSONValue] = [:]

    /// Nil for what is no map, and where a key stands twice.
    init?(_ members: [JSONMember]) {
        if members.count == 1, members[0].name.utf8.first == UInt8(ascii: "$") {
            guard members[0].name == ValueNotation.Mark.map.rawValue,
                case .array(let pairs) = members[0].value
            else {
                return nil
            }
            for case .array(let pair) in pairs where pair.count == 2 {
                list.append((Self.step(pair[0]), pair[1]))
            }
        } else {
            list = members.map { (.name($0.name), $0.value) }
        }
        for (step, value) in list { values[step] = value }
        guard values.count == list.count else { return nil }
    }

    private static func step(_ key: JSONValue) -> FieldPath.Step {
        switch key {
        case .number(.int(let number)): .index(Int(number))
        case .string(let name): .name(name)
        default: .name(JSONWriter().string(from: key))
        }
    }
}

extension JSONValue {
    /// Equal for values that say the same: to the bit, and whatever the order of members.
    fileprivate var content: Identifier {
        Identifier(JSONWriter(memberOrder: .sorted).string(from: self))
    }
}
