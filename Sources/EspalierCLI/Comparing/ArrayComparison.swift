/// Where two arrays differ: runs of elements that one has and the other has not.
///
/// What was put in or moved shifts all behind it, so arrays are not compared place by place:
/// elements that stand once in both, as most do in a collection, and in the same order, hold the
/// two together ("patience diff"); between these, and at both ends, what is equal is left out.
/// Takes time and memory about in proportion to the arrays.
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

    /// What is left of two ranges when a common beginning and end are taken off.
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

    /// The most elements that stand once in both, in one order: their places in both.
    private static func anchors<Element: Hashable>(_ a: [Element], _ b: [Element]) -> [(Int, Int)] {
        let places = onlyPlaces(of: b)
        let own = onlyPlaces(of: a)
        let pairs = a.indices.compactMap { index -> (a: Int, b: Int)? in
            guard own[a[index]] == .some(index), case let other?? = places[a[index]] else {
                return nil
            }
            return (index, other)
        }
        // The longest ascending row of places in b (Schensted 1961): `ends[n]` is the pair that
        // ends one of n + 1 soonest.
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

    /// The place of each element; nil where it stands more than once.
    private static func onlyPlaces<Element: Hashable>(of elements: [Element]) -> [Element: Int?] {
        var places: [Element: Int?] = [:]
        for (index, element) in elements.enumerated() {
            places[element] = .some(places[element] == nil ? index : nil)
        }
        return places
    }
}
