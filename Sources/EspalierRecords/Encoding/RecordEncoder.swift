/// Writes the fields of one model, in the order of the calls.
///
/// ```swift
/// func encode(to encoder: inout RecordEncoder) throws {
///     try encoder.encode(id, forKey: "id")
///     try encoder.encode(sender, forKey: "sender")      // a model becomes a reference
/// }
/// ```
///
/// A model should encode all of its fields always, nil ones too: the fields it encodes are the ones
/// its type *declares*, which a later write by the same type replaces. Encoding costs a comparison
/// of the name and the bytes of the value. Not `Sendable`.
public struct RecordEncoder {
    @usableFromInline
    package let values: ValueEncoder
    /// The number of fields written.
    package private(set) var count = 0
    let isInline: Bool
    // A model's fields are nearly always those of the last model of its type: names are compared
    // along the expected shape, and a list is only made once they differ.
    private let expected: Shape?
    private var names: [String]?
    /// How many fields to come are the expected shape's, one for one, whose names need no
    /// comparison.
    private var straightLeft = 0
    /// Whether it is the case of an enum that was written.
    var isCase = false

    init(inline values: ValueEncoder) {
        self.values = values
        isInline = true
        expected = nil
    }

    init(node values: ValueEncoder, expected: Shape?) {
        self.values = values
        isInline = false
        self.expected = expected
    }

    /// Says which fields follow: all of these, in this order, which spares comparing their names.
    ///
    /// Worth it in a model written by the thousand; `@Normalized` writes it. Call it first, with
    /// the fields in the order in which `encode(_:forKey:)` is then called, and always with the
    /// same list for a type. Where that is not so, values are stored under other fields' names; a
    /// debug build stops at a list that changes.
    ///
    /// ```swift
    /// func encode(to encoder: inout RecordEncoder) throws {
    ///     encoder.expect(Person.self, fields: ["id", "name"])
    ///     try encoder.encode(id, forKey: "id")
    ///     try encoder.encode(name, forKey: "name")
    /// }
    /// ```
    @inlinable
    public mutating func expect<Model>(_ type: Model.Type, fields: @autoclosure () -> [String]) {
        if !isStraight(ObjectIdentifier(type)) { compare(ObjectIdentifier(type), fields) }
        assert(agrees(with: fields), "\(type) expected other fields before: a type has one list")
    }

    @usableFromInline
    func agrees(with fields: () -> [String]) -> Bool {
        guard let expected, straightLeft > 0 else { return true }
        return SlotPlan(fields(), in: expected).isStraight
    }

    @usableFromInline
    mutating func isStraight(_ type: ObjectIdentifier) -> Bool {
        guard count == 0, let expected else { return true }
        guard expected.writing.isStraight(type) else { return false }
        straightLeft = expected.count
        return true
    }

    @usableFromInline
    mutating func compare(_ type: ObjectIdentifier, _ fields: () -> [String]) {
        guard let expected else { return }
        straightLeft =
            count == 0 && expected.writing.plan(for: type, fields, in: expected) == nil
            ? expected.count : 0
    }

    /// Encodes one field.
    @inlinable
    public mutating func encode<Value: FieldValue>(_ value: Value, forKey key: String) throws {
        startField(key)
        try value.encodeValue(into: values)
    }

    /// Encodes one field as *absent*: declared by the type, but not set.
    public mutating func encodeAbsent(forKey key: String) {
        startField(key)
        values.encodeAbsent()
    }

    @inline(__always)
    @usableFromInline
    mutating func startField(_ name: String) {
        if straightLeft > 0 {
            straightLeft -= 1
            count += 1
        } else {
            startFieldByName(name)
        }
    }

    @inline(never)
    private mutating func startFieldByName(_ name: String) {
        defer { count += 1 }
        if isInline { return values.writer.append(value: name) }
        if names != nil {
            names?.append(name)
        } else if expected?.holds(name, at: count) != true {
            names = (expected.map { Array($0.names[..<count]) } ?? []) + [name]
        }
    }

    /// Starts the field if it is the one that the last model of the type had here.
    @inline(__always)
    mutating func startExpected(_ name: String) -> Bool {
        guard names == nil, let expected, expected.holds(name, at: count) else { return false }
        straightLeft = max(0, straightLeft - 1)
        count += 1
        return true
    }

    /// The slot of a field written before; a node's, because an inline model keeps no list.
    func slot(ofWritten name: String) -> Int? {
        let name = Identifier(name)
        if let names { return names.firstIndex { Identifier($0) == name } }
        return expected?.names[..<count].firstIndex { Identifier($0) == name }
    }

    /// Whether the fields written are those of the expected shape.
    var isAsExpected: Bool { names == nil && expected?.count == count }

    /// The shape of the fields written, for a node of type `type`.
    func shape(type: String, in table: ShapeInterner) throws -> Shape {
        let fields = names ?? expected.map { Array($0.names[..<count]) } ?? []
        return try table.shape(type: type, fields: fields)
    }
}
