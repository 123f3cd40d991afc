/// How many elements the segments of a collection hold: the rules of B-tree leaves, as a value.
enum SegmentSplitter {
    static let maximum = 512
    static let minimum = 128

    /// The sizes of segments for `count` new elements: full but for the last.
    static func sizes(for count: Int) -> [Int] {
        guard count > 0 else { return [] }
        let full = Array(repeating: maximum, count: count / maximum)
        return count % maximum == 0 ? full : full + [count % maximum]
    }

    /// The sizes of the parts an overfull segment falls into: as equal as can be, so that the next
    /// insert fits.
    static func parts(of count: Int) -> [Int] {
        guard count > maximum else { return [count] }
        let parts = (count + maximum - 1) / maximum
        return (0..<parts).map { count / parts + ($0 < count % parts ? 1 : 0) }
    }

    /// Whether two neighbours should become one.
    static func joins(_ a: Int, _ b: Int) -> Bool {
        (a < minimum || b < minimum) && a + b <= maximum * 3 / 4
    }
}
