/// An ordered list of field names with the types that declare them: the hidden class of a record.
///
/// ```swift
/// Shape(type: "Person", fields: ["name", "age"])
/// ```
///
/// Records carry a shape's number (or, past the limits on shapes, the shape itself) instead of
/// their field names. A shape is a value: two shapes of the same types, names and declarers are
/// equal and have the same fingerprint in every process. Numbers belong to one generation of one
/// cache and are not part of the shape.
///
/// - Complexity: Making a shape hashes its names.
public final class Shape: Sendable, Hashable {
    /// A field of a shape.
    public struct Field: Hashable, Sendable {
        /// The field's name.
        public let name: String
        /// The types that declare the field: bit *i* stands for the shape's type *i*.
        public let declarers: UInt64

        /// Makes a field.
        ///
        /// - Parameters:
        ///   - name: The field's name.
        ///   - declarers: The types that declare the field: bit *i* stands for the type *i*.
        public init(name: String, declarers: UInt64) {
            self.name = name
            self.declarers = declarers
        }
    }

    /// The most types that may share a record's shape, because declarers are bits of one word.
    public static let maximumTypes = 64

    /// The types that declare the fields.
    public let types: [String]
    /// The fields, in the order in which their values stand in a record.
    public let fields: [Field]
    /// XXH64 of the description. It names the shape where there is no number: before a transaction,
    /// and in the checks of records.
    public let fingerprint: UInt64
    /// Whether records of the shape read as deleted: see ``deletion``.
    let isDeletion: Bool
    private let fieldNames: FieldNames
    let expected: FieldNames.Lent
    // With ASCII names `==` and equal lengths mean equal bytes, which saves comparing byte by byte.
    private let isASCII: Bool
    private let slots: [Identifier: Int]
    /// The slots in which decoders of Swift types find their fields.
    let plans = SlotPlans()

    /// Makes a shape.
    ///
    /// - Parameters:
    ///   - types: The types that declare the fields, at most ``maximumTypes``.
    ///   - fields: The fields, in the order of their values.
    public init(types: [String], fields: [Field]) {
        precondition(
            types.count <= Self.maximumTypes, "a shape has at most \(Self.maximumTypes) types")
        self.types = types
        self.fields = fields
        isDeletion = fields.isEmpty && types == [Self.deletionType]
        let names = fields.map(\.name)
        fieldNames = FieldNames(names)
        expected = fieldNames.lent
        isASCII = names.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
        slots = Dictionary(
            names.enumerated().map { (Identifier($1), $0) }, uniquingKeysWith: { first, _ in first }
        )
        fingerprint = XXHash64.hash(Self.description(types: types, fields: fields))
    }

    /// Makes the shape of records that one type writes.
    ///
    /// - Parameters:
    ///   - type: The type, which declares all fields.
    ///   - fields: The names of the fields, in the order of their values.
    public convenience init(type: String, fields: [String]) {
        self.init(types: [type], fields: fields.map { Field(name: $0, declarers: 1) })
    }

    /// The shape of a node that another store has deleted. It reads like a tombstone, but keeps its
    /// name: the records that refer to it find the node again if it is restored.
    package static let deletion = Shape(types: [deletionType], fields: [])

    /// No Swift type has this name.
    private static let deletionType = "deleted node"

    /// The shape of records without fields: keys, collections, segments.
    package static let none = Shape(types: [], fields: [])

    package var names: [String] { fieldNames.strings }

    @inline(__always)
    package var count: Int { fields.count }

    /// Returns whether slot `slot` holds the field `name`: the check that makes reading and writing
    /// in order cheap. It compares two words where the name is short, or the same text in memory.
    @inline(__always)
    package func holds(_ name: String, at slot: Int) -> Bool {
        guard slot < count else { return false }
        return expected.isIdentical(at: slot, to: name) || hasName(name, at: slot)
    }

    /// Returns whether slot `slot` holds the field `name`, by the bytes of both.
    @inline(never)
    func hasName(_ name: String, at slot: Int) -> Bool {
        guard slot < count else { return false }
        let candidate = names[slot]
        guard candidate == name, candidate.utf8.count == name.utf8.count else { return false }
        return isASCII || candidate.utf8.elementsEqual(name.utf8)
    }

    /// Returns the slot of the field `name`.
    package func slot(of name: String) -> Int? { slots[Identifier(name)] }

    public static func == (a: Shape, b: Shape) -> Bool {
        a === b || (a.fingerprint == b.fingerprint && a.description == b.description)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }

    /// Returns whether `type` declares the field in `slot`.
    package func isDeclared(_ slot: Int, by type: String) -> Bool {
        guard let index = types.firstIndex(of: type) else { return false }
        return fields[slot].declarers & (1 << UInt64(index)) != 0
    }

    // MARK: Bytes

    /// The shape as bytes, as the `shapes` keyspace and records with a shape of their own have it.
    ///
    ///     description = count of types, types, count of fields, fields
    ///     field       = name, declarers (varint)
    package var description: [UInt8] { Self.description(types: types, fields: fields) }

    private static func description(types: [String], fields: [Field]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(varint: UInt64(types.count))
        for type in types { writer.append(string: type) }
        writer.append(varint: UInt64(fields.count))
        for field in fields {
            writer.append(string: field.name)
            writer.append(varint: field.declarers)
        }
        return writer.bytes
    }

    /// Reads a description.
    package static func read(from reader: inout ByteReader) throws(FormatError) -> Shape {
        let typeCount = try reader.count()
        guard typeCount <= maximumTypes else { throw .malformed("a shape with too many types") }
        var types: [String] = []
        for _ in 0..<typeCount { types.append(try reader.string(count: reader.count())) }
        let fieldCount = try reader.count(ofAtLeast: 2)
        var fields: [Field] = []
        fields.reserveCapacity(fieldCount)
        for _ in 0..<fieldCount {
            fields.append(
                Field(
                    name: try reader.string(count: reader.count()), declarers: try reader.varint()))
        }
        let shape = Shape(types: types, fields: fields)
        guard shape.hasUniqueNames else { throw .malformed("a shape that names a field twice") }
        guard Set(types.lazy.map(Identifier.init)).count == types.count else {
            throw .malformed("a shape that names a type twice")
        }
        return shape
    }

    private var hasUniqueNames: Bool {
        names.indices.allSatisfy { slot(of: names[$0]) == $0 }
    }
}
