#if CommandLine
import EspalierRecords

/// Finds the places where two values in `ValueNotation` differ, regardless of the order of members.
struct ValueComparison {
    private(set) var differences: [FieldDifference] = []

    /// The most differing elements for which arrays of one length are compared index by index, and
    /// the most runs to report.
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

    /// Compares with a value that may be missing, which differs from null.
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
        // The last runs are reported together.
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

/// The entries of a map by key, in either notation.
private struct Entries {
    private(set) var list: [(step: FieldPath.Step, value: JSONValue)] = []
    private(set) var values: [FieldPath.Step: JSONValue] = [:]

    /// Returns nil for a value that is not a map, and for a map with a repeated key.
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
        default: .name(key.text)
        }
    }
}

extension JSONValue {
    /// A text that is equal for values that are equal up to the order of members.
    fileprivate var content: Identifier {
        Identifier(JSONWriter(memberOrder: .sorted).string(from: self))
    }
}

extension RecordLine {
    /// Returns the differences between two records of one kind.
    func differences(from other: RecordLine) -> [FieldDifference] {
        var comparison = ValueComparison()
        switch (content, other.content) {
        case (.node(let types, let fields, _), .node(let otherTypes, let otherFields, _)):
            comparison.compareNames("$types", types, otherTypes)
            let others = Dictionary(
                otherFields.map { (Identifier($0.name), $0) },
                uniquingKeysWith: { first, _ in first })
            let names = Set(fields.map { Identifier($0.name) })
            for field in fields {
                let path = FieldPath(steps: [.name(field.name)])
                let other = others[Identifier(field.name)]
                comparison.compare(field.value, toOptional: other?.value, at: path)
                guard let other else { continue }
                comparison.compareNames(
                    "$declarers.\(path)", field.declaringTypes(of: types),
                    other.declaringTypes(of: otherTypes),
                    unless: (types, otherTypes))
            }
            for field in otherFields where !names.contains(Identifier(field.name)) {
                comparison.add(FieldPath(steps: [.name(field.name)]), .nothing, .value(field.value))
            }
        case (.collection(let elements), .collection(let others)):
            if elements.count != others.count {
                let counts = [elements, others].map { JSONValue.number($0.count) }
                comparison.add("$count", .value(counts[0]), .value(counts[1]))
            }
            comparison.compare(contentJSON, other.contentJSON)
        default: comparison.compare(contentJSON, other.contentJSON)
        }
        return comparison.differences
    }
}

extension ValueComparison {
    /// Compares sets of names. Ignores two sets that both hold all types, whose difference `$types`
    /// reports.
    fileprivate mutating func compareNames(
        _ path: String, _ a: [String], _ b: [String], unless all: (a: [String], b: [String])? = nil
    ) {
        if let all, a.count == all.a.count, b.count == all.b.count { return }
        let (left, right) = (a.sortedByBytes, b.sortedByBytes)
        guard left.map(Identifier.init) != right.map(Identifier.init) else { return }
        add(
            path, .value(.array(left.map { .string($0) })),
            .value(.array(right.map { .string($0) })))
    }
}

extension [String] {
    fileprivate var sortedByBytes: [String] {
        sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

/// The differences between two arrays, as runs of elements that only one of them has.
///
/// An inserted element shifts all elements after it, so arrays are not compared index by index. The
/// comparison is a patience diff: elements that occur once in both arrays, as most do in a
/// collection, and in the same order, are the anchors. Between anchors, common elements at the
/// beginning and the end are left out.
///
/// - Complexity: O(*n* log *n*) time and O(*n*) memory, for the sum of the lengths *n*.
struct ArrayComparison: Equatable {
    struct Run: Equatable {
        let a: Range<Int>
        let b: Range<Int>
    }

    private(set) var runs: [Run] = []

    init<Element: Hashable>(_ a: [Element], _ b: [Element]) {
        var (i, j) = (0, 0)
        for (place, other) in Self.anchors(a, b) + [(a.count, b.count)] {
            addRun(a, i..<place, b, j..<other)
            (i, j) = (place + 1, other + 1)
        }
    }

    /// Adds the rest of two ranges without their common beginning and end.
    private mutating func addRun<Element: Hashable>(
        _ a: [Element], _ range: Range<Int>, _ b: [Element], _ other: Range<Int>
    ) {
        let (left, right) = (a[range], b[other])
        let start = zip(left, right).prefix { $0 == $1 }.count
        let rest = min(left.count, right.count) - start
        let end = zip(left.reversed(), right.reversed()).prefix(rest).prefix { $0 == $1 }.count
        let run = Run(
            a: range.lowerBound + start..<range.upperBound - end,
            b: other.lowerBound + start..<other.upperBound - end)
        if !run.a.isEmpty || !run.b.isEmpty { runs.append(run) }
    }

    /// Returns the longest sequence of elements that occur once in both arrays in the same order,
    /// as indices into both.
    private static func anchors<Element: Hashable>(_ a: [Element], _ b: [Element]) -> [(Int, Int)] {
        let places = onlyPlaces(of: b)
        let own = onlyPlaces(of: a)
        let pairs = a.indices.compactMap { index -> (a: Int, b: Int)? in
            guard own[a[index]] == .some(index), case let other?? = places[a[index]] else {
                return nil
            }
            return (index, other)
        }
        // The longest increasing subsequence of indices in b (Schensted 1961): `ends[n]` is the
        // pair with the least index that ends a subsequence of n + 1 pairs.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: pairs.count)
        for (index, pair) in pairs.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if pairs[ends[middle]].b < pair.b { low = middle + 1 } else { high = middle }
            }
            previous[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var row: [(Int, Int)] = []
        var next = ends.last
        while let index = next {
            row.append(pairs[index])
            next = previous[index]
        }
        return row.reversed()
    }

    /// Returns the index of each element, or nil for one that occurs more than once.
    private static func onlyPlaces<Element: Hashable>(of elements: [Element]) -> [Element: Int?] {
        var places: [Element: Int?] = [:]
        for (index, element) in elements.enumerated() {
            places[element] = .some(places[element] == nil ? index : nil)
        }
        return places
    }
}
#endif
