/// The 64-bit number of a record: handed out in ascending order, never reused, meaningful inside
/// one generation only.
///
/// Example: `Handle(42).rawValue == 42`.
public struct Handle: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: UInt64

    @inline(__always)
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    @inline(__always)
    public static func < (a: Handle, b: Handle) -> Bool { a.rawValue < b.rawValue }

    public var description: String { "#\(rawValue)" }
}
