/// An identifier compared by its bytes.
///
/// Swift compares strings by canonical equivalence, LMDB compares bytes: "é" composed and
/// decomposed are one Swift string but two identifiers. Every table of identifiers is keyed by this
/// type, so that memory and disk agree.
///
/// Example: `Identifier("e\u{301}") != Identifier("\u{E9}")`.
public struct Identifier: Hashable, Sendable, CustomStringConvertible {
    public let string: String

    public init(_ string: String) { self.string = string }

    public static func == (a: Identifier, b: Identifier) -> Bool {
        a.string.hasSameBytes(as: b.string)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(string.bytesHash) }

    public var description: String { string }
}
