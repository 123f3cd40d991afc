/// Logical time: the number of the commit of the last access.
package struct Stamp: Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    /// Never accessed directly.
    package static let never = Stamp(0)

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (a: Stamp, b: Stamp) -> Bool { a.rawValue < b.rawValue }
}
