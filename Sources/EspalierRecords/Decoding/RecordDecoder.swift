/// Reads the fields of one model.
///
/// ```swift
/// init(from decoder: inout RecordDecoder) throws {
///     id = try decoder.decode(forKey: "id")
///     sender = try decoder.decode(forKey: "sender")     // reassembled from its own record
/// }
/// ```
///
/// Asked for in the order they were encoded, fields are read straight down, without comparing names
/// where `expect` has said which they are; in any other order the places of all fields are found
/// once. Unknown fields are ignored, a missing optional field is nil, any other missing field
/// throws, which makes the read a miss. Can't be copied or kept.
public struct RecordDecoder: ~Copyable {
    @usableFromInline package var values: ValueDecoder
    /// Nil for an inline model, whose map carries the names.
    package let shape: Shape?
    let count: Int
    private let first: Int
    /// The slot whose value stands at the reader's position.
    var next = 0
    /// Found when a field is asked for out of order.
    private(set) var plan: FieldPlan?
    var order = Order.byName
    /// The slots of the expected fields, and which of them is the next; meant where `order` is
    /// `planned`.
    private var slots: SlotPlan?
    private var ordinal = 0

    /// How the next field is found.
    enum Order {
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
        count = shape.count
    }

    @usableFromInline
    init(inline values: consuming ValueDecoder, count: Int) {
        first = values.reader.position
        self.values = values
        shape = nil
        self.count = count
    }

    /// Says which fields are asked for from here on: all of these, in this order, which spares
    /// comparing their names.
    ///
    /// Worth it in a model read by the thousand; `@Normalized` writes it. Call it first, with the
    /// fields in the order in which `decode(forKey:)` is then called, and always with the same list
    /// for a type. Where that is not so, other fields' values are read; a debug build stops at a
    /// list that changes.
    ///
    /// ```swift
    /// init(from decoder: inout RecordDecoder) throws {
    ///     decoder.expect(Person.self, fields: ["id", "name"])
    ///     id = try decoder.decode(forKey: "id")
    ///     name = try decoder.decode(forKey: "name")
    /// }
    /// ```
    ///
    /// Costs a comparison where the record's shape is the type's own. Where the fields stand in a
    /// shape of another type is found once per type and cache.
    @inlinable
    public mutating func expect<Model>(_ type: Model.Type, fields: @autoclosure () -> [String]) {
        if !isStraight(ObjectIdentifier(type)) { plan(ObjectIdentifier(type), fields) }
        assert(agrees(with: fields), "\(type) expected other fields before: a type has one list")
    }

    @usableFromInline
    mutating func isStraight(_ type: ObjectIdentifier) -> Bool {
        // The fields of an inline model have their names beside them.
        guard let shape else { return true }
        guard next == 0, shape.reading.isStraight(type) else { return false }
        order = .straight
        return true
    }

    @usableFromInline
    func agrees(with fields: () -> [String]) -> Bool {
        guard let shape, order != .byName else { return true }
        return SlotPlan(fields(), in: shape).slots == slots?.slots ?? Array(0..<count)
    }

    @usableFromInline
    mutating func plan(_ type: ObjectIdentifier, _ fields: () -> [String]) {
        guard let shape, next == 0 else { return }
        slots = shape.reading.plan(for: type, fields, in: shape)
        order = slots == nil ? .straight : .planned
    }

    /// Decodes one field.
    @inlinable
    public mutating func decode<Value: FieldValue>(
        _ type: Value.Type = Value.self, forKey key: String
    ) throws -> Value {
        try decodeField(type, forKey: key)
    }

    @inlinable
    mutating func decodeField<Value: FieldValue>(_ type: Value.Type, forKey key: String) throws
        -> Value
    {
        guard let start = try start(key) else {
            guard let value = Value.valueWhenMissing else { throw missing(key) }
            return value
        }
        // Returned where it is made: a copy of a model would retain all of its strings.
        do {
            return try Value.decodeValue(from: &values)
        } catch {
            throw try failed(error, key, start)
        }
    }

    /// Stands at the value of the field `key`, whose position is the answer, and counts it as read;
    /// nil when there is none.
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

    @usableFromInline
    mutating func failed(_ error: any Error, _ key: String, _ start: Int) throws -> any Error {
        order = .byName
        next -= 1
        try restore(start)
        return values.treeReader.failure(of: error).inside(field: key)
    }

    /// A lenient initialiser may ask for the field again: the expected order does not hold from
    /// here on.
    @usableFromInline
    mutating func missing(_ key: String) -> any Error {
        order = .byName
        return ReadFailure(.missing).inside(field: key)
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
        // Read where it stands: sought again, an inline model's value would be taken for a name.
        do {
            return try Value.decodeValue(from: &values)
        } catch {
            throw try failed(error, key, start)
        }
    }

    /// Where reading goes on: for a caller that looks ahead, or reads a value through another
    /// decoder.
    package struct Place {
        var position: Int
        var slot: Int

        /// Behind the value that ends at `end`.
        func passed(to end: Int) -> Place { Place(position: end, slot: slot + 1) }
    }

    package var place: Place {
        get { Place(position: values.reader.position, slot: next) }
        set {
            values.reader.position = newValue.position
            next = newValue.slot
        }
    }

    /// Back to before a field that could not be read. The expected order does not hold from there
    /// on.
    package mutating func goBack(to place: Place) {
        order = .byName
        self.place = place
    }

    /// Back to a value that could not be read: a lenient initialiser may ask for it again, or go
    /// on.
    package mutating func restore(_ start: Int) throws {
        values.reader.position = start
        if shape == nil { _ = try planned() }
    }

    /// The names of the fields the record has, in its order.
    public mutating func fieldNames() throws -> [String] {
        if let shape { return shape.names }
        return try planned().names
    }

    /// Whether the record has the field and it is not *absent*.
    public mutating func contains(_ key: String) throws -> Bool {
        order = .byName
        return try seekOutOfOrder(key)
    }

    /// Stands at the value of the field `name`; false when there is none or it is absent.
    @inline(__always)
    package mutating func seek(_ name: String) throws -> Bool {
        switch order {
        case .straight where next < count: return try isPresent()
        case .planned where ordinal < slots?.slots.count ?? 0: return try seekPlanned()
        default: order = .byName
        }
        guard let shape else { return try seekInline(name) }
        guard shape.holds(name, at: next) else { return try seekOutOfOrder(name) }
        return try values.reader.peek() != Wire.absent
    }

    /// Whether the field that stands here is not absent; behind it where it is.
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
            if let length = try ahead.takeStringLength(), try ahead.matches(name, count: length),
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
            // A field the record lacks, or fields the type doesn't know: reading goes on in order.
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

    /// Where the fields end, if they were read in order to the last one.
    @usableFromInline
    var endPosition: Int? { plan == nil && next == count ? values.reader.position : nil }
}
