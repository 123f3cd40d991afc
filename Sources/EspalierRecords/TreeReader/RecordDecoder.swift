/// Reads the fields of one model.
///
/// ```swift
/// init(from decoder: inout RecordDecoder) throws {
///     id = try decoder.decode(forKey: "id")
///     sender = try decoder.decode(forKey: "sender")     // reassembled from its own record
/// }
/// ```
///
/// Fields that are asked for in the order in which they were encoded are read straight down. For
/// any other order the decoder finds the positions of all fields once. It ignores unknown fields,
/// reads a missing optional field as nil, and throws for any other missing field, which makes the
/// read a miss.
///
/// A decoder can't be copied or kept, and serves the thread that reads.
///
/// - Complexity: O(1) for a field that is asked for in order, apart from its value; O(fields of the
///   record) once for the first field asked for out of order.
public struct RecordDecoder: ~Copyable {
    @usableFromInline package var values: ValueDecoder
    /// Nil for an inline model, whose map carries the names.
    package let shape: Shape?
    let count: Int
    private let first: Int
    /// The slot whose value stands at the reader's position.
    private(set) var next = 0
    /// Made when a field is asked for out of order.
    private(set) var plan: FieldPlan?
    private var order = Order.byName
    /// The names of the expected fields, or of the shape's if fields are found by name. The shape
    /// keeps both.
    private var expected: FieldNames.Lent
    /// The slots of the expected fields, and which of them is next; of use where `order` is
    /// `planned`.
    private var slots: SlotPlan?
    private var ordinal = 0

    /// How the decoder finds the next field.
    private enum Order {
        case byName
        /// The expected fields are the shape's, one for one.
        case straight
        /// The expected fields stand in other slots.
        case planned
    }

    package init(values: consuming ValueDecoder, shape: Shape) {
        first = values.reader.position
        self.values = values
        self.shape = shape
        expected = shape.expected
        count = shape.count
    }

    @usableFromInline
    init(inline values: consuming ValueDecoder, count: Int) {
        first = values.reader.position
        self.values = values
        shape = nil
        expected = .none
        self.count = count
    }

    // MARK: Expected fields

    /// Says which fields the model asks for from here on, and in which order, so that the decoder
    /// finds them without a look-up.
    ///
    /// The list pays in a model that is read by the thousand; `@Normalized` writes it. Call this
    /// first, with the fields in the order of the calls of `decode(forKey:)`, and with the same
    /// list for each value of the type. The list is a hint: where another field is asked for, the
    /// decoder finds it by its name, and goes on by names.
    ///
    /// ```swift
    /// init(from decoder: inout RecordDecoder) throws {
    ///     decoder.expect(Person.self, fields: ["id", "name"])
    ///     id = try decoder.decode(forKey: "id")
    ///     name = try decoder.decode(forKey: "name")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The model's type, under which the cache remembers where the fields stand.
    ///   - fields: The names of the fields. Evaluated once for each type and shape.
    /// - Complexity: A comparison where the record's shape is the type's own. Where the shape is
    ///   another type's, the slots are found once for each type and cache.
    @inlinable
    public mutating func expect<Model>(_ type: Model.Type, fields: @autoclosure () -> [String]) {
        if !isStraight(ObjectIdentifier(type)) { plan(ObjectIdentifier(type), fields) }
    }

    @usableFromInline
    mutating func isStraight(_ type: ObjectIdentifier) -> Bool {
        // The fields of an inline model have their names beside them.
        guard let shape else { return true }
        guard next == 0, let names = shape.plans.straightNames(of: type) else { return false }
        expected = names
        order = .straight
        return true
    }

    @usableFromInline
    mutating func plan(_ type: ObjectIdentifier, _ fields: () -> [String]) {
        guard let shape, next == 0 else { return }
        let plan = shape.plans.plan(for: type, fields, in: shape)
        expected = plan.expected
        slots = plan
        order = plan.isStraight ? .straight : .planned
    }

    /// Forgets which fields are expected. A lenient initialiser may ask for a field again after a
    /// failure, and a `Codable` model for any field.
    mutating func findByName() {
        order = .byName
        expected = shape?.expected ?? .none
    }

    // MARK: Fields

    /// Decodes one field.
    ///
    /// - Parameters:
    ///   - type: The type of the field.
    ///   - key: The name under which the field was encoded.
    /// - Throws: A failure that makes the read a miss: the record lacks the field and the type has
    ///   no ``FieldValue/valueWhenMissing``, or the value is not of this type. An initialiser may
    ///   catch it and go on, unless the record is damaged: then the read is a miss all the same.
    @inlinable
    public mutating func decode<Value: FieldValue>(
        _ type: Value.Type = Value.self, forKey key: String
    ) throws -> Value {
        try decodeField(type, forKey: key)
    }

    /// Refuses a field whose type can't be stored, as `encode(_:forKey:)` does.
    ///
    /// - Parameters:
    ///   - type: The type of the field.
    ///   - key: The name of the field.
    /// - Throws: Nothing: no code can call it.
    @available(
        *, unavailable,
        message: "its type must conform to FieldValue or Codable, or be a model; or add @NotStored"
    )
    @_disfavoredOverload
    public mutating func decode<Value>(
        _ type: Value.Type = Value.self, forKey key: String
    ) throws -> Value {
        preconditionFailure("No code can call it.")
    }

    /// Decodes one field, or gives `value` if the record lacks the field or has it as *absent*. A
    /// field that is nil is not missing.
    ///
    /// ```swift
    /// // Records of earlier versions have no likes.
    /// likes = try decoder.decode(forKey: "likes", default: 0)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the field.
    ///   - key: The name under which the field was encoded.
    ///   - value: Gives the value of a missing field.
    /// - Throws: As `decode(_:forKey:)`, and what `value` throws.
    @inlinable
    public mutating func decode<Value: FieldValue>(
        _ type: Value.Type = Value.self, forKey key: String,
        default value: @autoclosure () throws -> Value
    ) throws -> Value {
        guard let start = try start(key) else { return try value() }
        do {
            return try Value.decodeValue(from: &values)
        } catch {
            throw try failed(error, key, start)
        }
    }

    @inlinable
    mutating func decodeField<Value: FieldValue>(_ type: Value.Type, forKey key: String) throws
        -> Value
    {
        guard let start = try start(key) else {
            guard let value = Value.valueWhenMissing else { return try missingValue(key, type) }
            return value
        }
        // Returned where it is made: a copy of a model would retain all of its strings.
        do {
            return try Value.decodeValue(from: &values)
        } catch {
            return try valueInstead(of: error, key, start, type)
        }
    }

    /// Decodes one field if the record has it and it is not nil.
    @inline(__always)
    package mutating func decodeIfPresent<Value: FieldValue>(_ type: Value.Type, forKey key: String)
        throws -> Value?
    {
        guard try seek(key) else { return nil }
        next += 1
        let start = values.reader.position
        if try values.decodeNull() { return nil }
        // Read where it stands: in an inline model, a second search would take the value for a
        // name.
        do {
            return try Value.decodeValue(from: &values)
        } catch {
            throw try failed(error, key, start)
        }
    }

    /// Returns the names of the fields that the record has, in the record's order.
    ///
    /// - Throws: A failure that makes the read a miss if the record is damaged.
    /// - Complexity: O(1) for a model with an identifier; O(fields) for an inline model.
    public mutating func fieldNames() throws -> [String] {
        if let shape { return shape.names }
        return try planned().names
    }

    /// Returns whether the record has the field and it is not *absent*.
    ///
    /// - Parameter key: The name under which the field was encoded.
    /// - Throws: A failure that makes the read a miss if the record is damaged.
    public mutating func contains(_ key: String) throws -> Bool {
        findByName()
        return try seekOutOfOrder(key)
    }

    // MARK: Common fields, with fewer calls

    // A call for each step of decoding took half of what these fields cost beyond their values.

    /// Decodes one field of text.
    ///
    /// - Parameters:
    ///   - type: The type of the field's value.
    ///   - key: The name under which the field was encoded.
    /// - Throws: A failure that makes the read a miss if the field is missing or of another kind,
    ///   or if the record is damaged.
    public mutating func decode(_ type: String.Type = String.self, forKey key: String) throws
        -> String
    {
        try decodeScalar(key) { reader throws(FormatError) in try reader.readString() }
    }

    /// Decodes one field of text that may be nil.
    ///
    /// - Parameters:
    ///   - type: The type of the field's value.
    ///   - key: The name under which the field was encoded.
    /// - Throws: A failure that makes the read a miss if the field is missing or of another kind,
    ///   or if the record is damaged.
    public mutating func decode(_ type: String?.Type = String?.self, forKey key: String) throws
        -> String?
    {
        try decodeScalar(key) { reader throws(FormatError) -> String?? in
            if try reader.readNull() { return .some(nil) }
            guard let text = try reader.readString() else { return nil }
            return text
        }
    }

    /// Decodes one integer field.
    ///
    /// - Parameters:
    ///   - type: The type of the field's value.
    ///   - key: The name under which the field was encoded.
    /// - Throws: A failure that makes the read a miss if the field is missing or of another kind,
    ///   or if the record is damaged.
    public mutating func decode(_ type: Int.Type = Int.self, forKey key: String) throws -> Int {
        try decodeScalar(key) { reader throws(FormatError) in try reader.readInteger(Int.self) }
    }

    /// Decodes one floating-point field.
    ///
    /// - Parameters:
    ///   - type: The type of the field's value.
    ///   - key: The name under which the field was encoded.
    /// - Throws: A failure that makes the read a miss if the field is missing or of another kind,
    ///   or if the record is damaged.
    public mutating func decode(_ type: Double.Type = Double.self, forKey key: String) throws
        -> Double
    {
        try decodeScalar(key) { reader throws(FormatError) in try reader.readDouble() }
    }

    /// Decodes one field that is true or false.
    ///
    /// - Parameters:
    ///   - type: The type of the field's value.
    ///   - key: The name under which the field was encoded.
    /// - Throws: A failure that makes the read a miss if the field is missing or of another kind,
    ///   or if the record is damaged.
    public mutating func decode(_ type: Bool.Type = Bool.self, forKey key: String) throws -> Bool {
        try decodeScalar(key) { reader throws(FormatError) in try reader.readBool() }
    }

    /// Reads the next expected field with `read`. Decodes the field as any other if it is not the
    /// next one, or if `read` returns nil.
    @inline(__always)
    private mutating func decodeScalar<Value: FieldValue>(
        _ key: String, _ read: (inout ByteReader) throws(FormatError) -> Value?
    ) throws -> Value {
        if order == .straight, expected.isIdentical(at: next, to: key) {
            do throws(FormatError) {
                if let value = try read(&values.reader) {
                    next += 1
                    return value
                }
            } catch {
                throw values.treeReader.failure(of: error).inside(field: key)
            }
        }
        return try decodeField(Value.self, forKey: key)
    }

    // MARK: Positions

    /// Moves to the value of the field `key`, counts it as read and returns its position; nil when
    /// there is none.
    @usableFromInline
    mutating func start(_ key: String) throws -> Int? {
        do {
            guard try seek(key) else { return nil }
        } catch {
            throw values.treeReader.failure(of: error).inside(field: key)
        }
        next += 1
        return values.reader.position
    }

    /// Moves back to the field `key`, which could not be decoded, and returns the failure.
    @usableFromInline
    mutating func failed(_ error: any Error, _ key: String, _ start: Int) throws -> any Error {
        findByName()
        next -= 1
        values.reader.position = start
        if shape == nil { _ = try planned() }
        return values.treeReader.failure(of: error).inside(field: key)
    }

    /// Returns the failure for a required field that the record lacks.
    @usableFromInline
    mutating func missing(_ key: String) -> any Error {
        findByName()
        return ReadFailure(.missing).inside(field: key)
    }

    /// Where reading goes on, for a caller that looks ahead or reads a value through another
    /// decoder.
    package struct Place {
        var position: Int
        var slot: Int

        /// The place behind the value that ends at `end`.
        func passed(to end: Int) -> Place { Place(position: end, slot: slot + 1) }
    }

    package var place: Place {
        get { Place(position: values.reader.position, slot: next) }
        set {
            values.reader.position = newValue.position
            next = newValue.slot
        }
    }

    /// Moves back in front of a field that could not be read.
    mutating func goBack(to place: Place) {
        findByName()
        self.place = place
    }

    /// Moves to the value of the field `name`. Returns false when there is none or it is absent.
    @inline(__always)
    package mutating func seek(_ name: String) throws -> Bool {
        switch order {
        case .planned:
            if expected.isIdentical(at: ordinal, to: name)
                || slots?.hasName(name, at: ordinal) == true
            {
                return try seekPlanned()
            }
            findByName()
        case .straight:
            if expected.isIdentical(at: next, to: name) || shape?.hasName(name, at: next) == true {
                return try isPresent()
            }
            findByName()
        case .byName: break
        }
        guard let shape else { return try seekInline(name) }
        guard expected.isIdentical(at: next, to: name) || shape.hasName(name, at: next) else {
            return try seekOutOfOrder(name)
        }
        return try values.reader.peek() != Wire.absent
    }

    /// Returns whether the field here is not absent, and moves past it if it is.
    @inline(__always)
    private mutating func isPresent() throws -> Bool {
        guard try values.reader.peek() == Wire.absent else { return true }
        values.reader.position += 1
        next += 1
        return false
    }

    private mutating func seekPlanned() throws -> Bool {
        guard let slot = slots?.slots[ordinal] else { return false }
        ordinal += 1
        guard slot != SlotPlan.none else { return false }
        if slot < next || plan != nil {
            values.reader.position = try planned().offsets[slot]
            next = slot
        }
        while next < slot {
            try values.reader.skipValue()
            next += 1
        }
        return try isPresent()
    }

    private mutating func seekInline(_ name: String) throws -> Bool {
        if plan == nil, next < count {
            var ahead = values.reader
            if let length = try ahead.readStringLength(), try ahead.matches(name, count: length),
                try ahead.peek() != Wire.absent
            {
                values.reader = ahead
                return true
            }
        }
        return try seekOutOfOrder(name)
    }

    private mutating func seekOutOfOrder(_ name: String) throws -> Bool {
        if plan == nil, let shape {
            // The record lacks a field, or the type does not know some: reading goes on in order.
            guard let slot = shape.slot(of: name) else { return false }
            if slot >= next {
                while next < slot {
                    try values.reader.skipValue()
                    next += 1
                }
                return try values.reader.peek() != Wire.absent
            }
        }
        let plan = try planned()
        guard let slot = shape.map({ $0.slot(of: name) }) ?? plan.slot(of: name) else {
            return false
        }
        next = slot
        values.reader.position = plan.offsets[slot]
        return try values.reader.peek() != Wire.absent
    }

    private mutating func planned() throws -> FieldPlan {
        if let plan { return plan }
        var reader = values.reader
        reader.position = first
        let made = try FieldPlan(reader: &reader, shape: shape, count: count)
        plan = made
        return made
    }

    /// How far before the end of the record's values the first field stands.
    var distanceFromEnd: Int { values.reader.end - first }

    /// The position behind the fields, if they were read in order to the last one.
    @usableFromInline
    var endPosition: Int? { plan == nil && next == count ? values.reader.position : nil }
}
