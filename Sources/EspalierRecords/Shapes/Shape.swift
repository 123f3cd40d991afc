/// An ordered list of field names with the types that declare them: the hidden class of a record.
///
/// Records carry a shape's number (or, past the limits on shapes, the shape itself) instead of
/// their field names. A shape is a value: two shapes of the same types, names and declarers are
/// equal and have the same fingerprint, in every process. Numbers belong to one generation of one
/// cache and are kept apart from it.
///
/// Example: `Shape(type: "Person", fields: ["name", "age"])`.
///
/// `Sendable`; as a value it never changes. Making one costs a hash of its names.
public final class Shape: Sendable, Hashable {
    /// A field: its name, and which of the shape's types declare it, a bit each.
    public struct Field: Hashable, Sendable {
        public let name: String
        public let declarers: UInt64

        public init(name: String, declarers: UInt64) {
            self.name = name
            self.declarers = declarers
        }
    }

    /// At most this many types may share a record's shape: declarers are bits of one word.
    public static let maximumTypes = 64

    public let types: [String]
    public let fields: [Field]
    /// XXH64 of the description; names the shape where a number can't: before a transaction, in
    /// checks.
    public let fingerprint: UInt64
    package let names: [String]
    // With ASCII names `==` and equal lengths mean equal bytes, which spares a comparison byte by
    // byte.
    private let isASCII: Bool
    private let slots: [Identifier: Int]
    /// Where the fields of Swift types stand here, as their decoders expect them and as their
    /// encoders do.
    let reading = SlotPlans()
    let writing = SlotPlans()

    public init(types: [String], fields: [Field]) {
        precondition(
            types.count <= Self.maximumTypes, "a shape has at most \(Self.maximumTypes) types")
        self.types = types
        self.fields = fields
        names = fields.map(\.name)
        isASCII = names.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
        slots = Dictionary(
            names.enumerated().map { (Identifier($1), $0) }, uniquingKeysWith: { first, _ in first }
        )
        fingerprint = XXHash64.hash(Self.description(types: types, fields: fields))
    }

    public convenience init(type: String, fields: [String]) {
        self.init(types: [type], fields: fields.map { Field(name: $0, declarers: 1) })
    }

    /// The shape of records that have no fields of their own: keys, collections, segments.
    package static let none = Shape(types: [], fields: [])

    @inline(__always)
    package var count: Int { names.count }

    /// Whether slot `slot` holds the field `name`: the check that makes decoding in order cheap.
    @inline(__always)
    package func holds(_ name: String, at slot: Int) -> Bool {
        guard slot < names.count else { return false }
        let candidate = names[slot]
        guard candidate == name, candidate.utf8.count == name.utf8.count else { return false }
        return isASCII || candidate.utf8.elementsEqual(name.utf8)
    }

    /// The slot of the field `name`.
    package func slot(of name: String) -> Int? { slots[Identifier(name)] }

    public static func == (a: Shape, b: Shape) -> Bool {
        a === b || (a.fingerprint == b.fingerprint && a.description == b.description)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }

    /// Whether `type` declares the field in `slot`.
    package func isDeclared(_ slot: Int, by type: String) -> Bool {
        guard let index = types.firstIndex(of: type) else { return false }
        return fields[slot].declarers & (1 << UInt64(index)) != 0
    }
}
