/// Logical time: the number of the last access. Every touch and every write has one of its own.
package struct Stamp: Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    /// Never accessed directly.
    package static let never = Stamp(0)

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (a: Stamp, b: Stamp) -> Bool { a.rawValue < b.rawValue }
}
