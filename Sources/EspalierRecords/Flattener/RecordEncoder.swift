/// Writes the fields of one model, in the order of the calls.
///
/// ```swift
/// func encode(to encoder: inout RecordEncoder) throws {
///     try encoder.encode(id, forKey: "id")
///     try encoder.encode(sender, forKey: "sender")      // a model becomes a reference
/// }
/// ```
///
/// A model should always encode all of its fields, nil ones too: the fields that it encodes are the
/// ones its type *declares*, which a later write by the same type replaces. An encoder serves the
/// thread that flattens and is not `Sendable`.
///
/// - Complexity: A comparison of the name for each field, and the bytes of its value.
public struct RecordEncoder {
    @usableFromInline
    package let values: ValueEncoder
    /// The number of fields written.
    package private(set) var count = 0
    let isInline: Bool
    // A model's fields are nearly always those of the last model of its type: names are compared
    // along the expected shape, and a list is made only once they differ.
    private let expected: Shape?
    /// The names of the expected shape's fields, as long as the fields are the same; then none.
    private var expectedNames: FieldNames.Lent
    private var names: [String]?
    /// The slots of many names, so that a repeated name is found at once.
    private var slots: [Identifier: Int]?
    private static let searchedNames = 32
    /// Whether the model is an enum with payloads, of which one case was written.
    var isCase = false

    init(inline values: ValueEncoder) {
        self.values = values
        isInline = true
        expected = nil
        expectedNames = .none
    }

    init(node values: ValueEncoder, expected: Shape?) {
        self.values = values
        isInline = false
        self.expected = expected
        expectedNames = expected?.expected ?? .none
    }

    /// Says which fields follow, as ``RecordDecoder/expect(_:fields:)`` does for reading.
    ///
    /// The encoder compares the name of each field with that of the last model of the type, by two
    /// words where they are the same, and needs no list for that. The call costs nothing, and a
    /// list that is wrong has no effect: values are stored under the names given with them.
    ///
    /// - Parameters:
    ///   - type: The model's type.
    ///   - fields: The names of the fields. Not evaluated.
    @inlinable
    public mutating func expect<Model>(_ type: Model.Type, fields: @autoclosure () -> [String]) {}

    // MARK: Fields

    /// Encodes one field.
    ///
    /// - Parameters:
    ///   - value: The value of the field. A model with an identifier becomes a reference.
    ///   - key: The name of the field, each once for a model.
    /// - Throws: What the value's own `encodeValue(into:)` throws, and ``FlattenError`` where a
    ///   model below exceeds a limit. The write then fails.
    @inlinable
    public mutating func encode<Value: FieldValue>(_ value: Value, forKey key: String) throws {
        startField(key)
        do {
            try value.encodeValue(into: values)
        } catch {
            values.noteUnfinishedField(error, of: Value.self)
            throw error
        }
    }

    /// Refuses a value that can't be stored, so that the compiler says what its type lacks.
    ///
    /// - Parameters:
    ///   - value: The value of the field.
    ///   - key: The name of the field.
    @available(
        *, unavailable,
        message: "its type must conform to FieldValue or Codable, or be a model; or add @NotStored"
    )
    @_disfavoredOverload
    public mutating func encode<Value>(_ value: Value, forKey key: String) throws {}

    /// Encodes one field as *absent*: declared by the type, but not set. A merge keeps the value
    /// that the record has.
    ///
    /// - Parameter key: The name of the field.
    public mutating func encodeAbsent(forKey key: String) {
        startField(key)
        values.encodeAbsent()
    }

    // MARK: Common fields in one call

    // The general method looks up how a type is stored.

    /// Encodes one field of text.
    public mutating func encode(_ value: String, forKey key: String) throws {
        startField(key)
        values.writer.append(value: value)
    }

    /// Encodes one field of text that may be nil.
    public mutating func encode(_ value: String?, forKey key: String) throws {
        startField(key)
        if let value { values.writer.append(value: value) } else { values.writer.append(null: ()) }
    }

    /// Encodes one integer field.
    public mutating func encode(_ value: Int, forKey key: String) throws {
        startField(key)
        values.writer.append(value: Int64(value))
    }

    /// Encodes one floating-point field.
    public mutating func encode(_ value: Double, forKey key: String) throws {
        startField(key)
        values.writer.append(value: value)
    }

    /// Encodes one field that is true or false.
    public mutating func encode(_ value: Bool, forKey key: String) throws {
        startField(key)
        values.writer.append(value: value)
    }

    // MARK: Names

    @inline(__always)
    @usableFromInline
    mutating func startField(_ name: String) {
        if expectedNames.isIdentical(at: count, to: name) {
            count += 1
        } else {
            startByBytes(name)
        }
    }

    /// Starts the field and returns true if the last model of the type had the same field here.
    @inline(__always)
    mutating func startExpected(_ name: String) -> Bool {
        guard expectedNames.isIdentical(at: count, to: name) || isNextByBytes(name) else {
            return false
        }
        count += 1
        return true
    }

    @inline(never)
    private func isNextByBytes(_ name: String) -> Bool {
        names == nil && expected?.hasName(name, at: count) == true
    }

    @inline(never)
    private mutating func startByBytes(_ name: String) {
        defer { count += 1 }
        if isInline { return values.writer.append(value: name) }
        if isNextByBytes(name) { return }
        if names == nil { names = expected.map { Array($0.names[..<count]) } ?? [] }
        names?.append(name)
        slots?[Identifier(name)] = count
        expectedNames = .none
    }

    /// Returns the slot of a field written before. Of use for a node: an inline model keeps no
    /// list.
    mutating func slot(ofWritten name: String) -> Int? {
        let name = Identifier(name)
        if let names {
            guard names.count > Self.searchedNames else {
                return names.firstIndex { Identifier($0) == name }
            }
            slots =
                slots
                ?? Dictionary(
                    zip(names.map(Identifier.init), 0...), uniquingKeysWith: { a, _ in a })
            return slots?[name]
        }
        return expected?.names[..<count].firstIndex { Identifier($0) == name }
    }

    /// Whether the fields written are those of the expected shape.
    var isAsExpected: Bool { names == nil && expected?.count == count }

    /// Returns the shape of the fields written, for a node of type `type`.
    func shape(type: String, in table: ShapeInterner) throws -> Shape {
        let fields = names ?? expected.map { Array($0.names[..<count]) } ?? []
        return try table.shape(type: type, fields: fields)
    }
}
