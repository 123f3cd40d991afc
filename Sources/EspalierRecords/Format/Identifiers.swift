/// An identifier, compared by its bytes.
///
/// ```swift
/// Identifier("e\u{301}") != Identifier("\u{E9}")
/// ```
///
/// Swift compares strings by canonical equivalence, and LMDB compares bytes: "é" composed and
/// decomposed are one Swift string but two identifiers. Every table of identifiers has this type as
/// its key, so that memory and disk agree.
///
/// - Complexity: Equality and hashing are O(bytes).
public struct Identifier: Hashable, Sendable, CustomStringConvertible {
    /// The identifier as text.
    public let string: String

    /// Makes an identifier from text.
    public init(_ string: String) { self.string = string }

    public static func == (a: Identifier, b: Identifier) -> Bool {
        a.string.hasSameBytes(as: b.string)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(string.bytesHash) }

    /// The identifier as text.
    public var description: String { string }
}

/// The 64-bit number of a record: given out in ascending order, never reused, and meaningful inside
/// one generation only.
public struct Handle: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    /// Makes a handle from its number.
    @inline(__always)
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    @inline(__always)
    public static func < (a: Handle, b: Handle) -> Bool { a.rawValue < b.rawValue }

    /// The number with a `#` in front.
    public var description: String { "#\(rawValue)" }
}

/// The name space of an index entry, which is also the kind of record that the entry names.
public enum NameSpace: UInt8, Sendable, CaseIterable, Codable {
    /// A node, under its `modelIdentifier`.
    case node = 1
    /// An entry under a key that the caller chose: one reference, or one inline model.
    case key = 2
    /// A collection, under its key.
    case collection = 3
    /// A run of a collection's elements. It has no identifier and no index entry: its collection
    /// refers to it.
    case segment = 5
}
