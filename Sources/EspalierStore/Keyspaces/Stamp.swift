/// Logical time: the number of the commit of the last access.
struct Stamp: Hashable, Comparable, Sendable {
    let rawValue: UInt64

    /// Never accessed directly.
    static let never = Stamp(0)

    init(_ rawValue: UInt64) { self.rawValue = rawValue }

    static func < (a: Stamp, b: Stamp) -> Bool { a.rawValue < b.rawValue }
}
