import Synchronization

/// The positions of the fields of one record, for a decoder that asks for them out of order.
///
/// The shape's table, made once per shape, maps names to slots. The plan adds the positions, which
/// differ by record.
package final class FieldPlan {
    /// The position of each slot's value.
    let offsets: [Int]
    /// The names of an inline model's fields; empty for a record, whose shape has them.
    let names: [String]
    private let slots: [Identifier: Int]

    init(reader: inout ByteReader, shape: Shape?, count: Int) throws(FormatError) {
        var offsets: [Int] = []
        var names: [String] = []
        var slots: [Identifier: Int] = [:]
        offsets.reserveCapacity(count)
        for slot in 0..<count {
            if shape == nil {
                guard let name = try reader.readString() else {
                    throw .malformed("a field name that is not text")
                }
                names.append(name)
                if slots[Identifier(name)] == nil { slots[Identifier(name)] = slot }
            }
            offsets.append(reader.position)
            try reader.skipValue()
        }
        self.offsets = offsets
        self.names = names
        self.slots = slots
    }

    func slot(of name: String) -> Int? { slots[Identifier(name)] }
}

/// The slots of the fields that a type expects, in records of one shape.
final class SlotPlan: Sendable {
    /// Stands for the slot of a field that the shape lacks.
    static let none = -1

    /// The fields, in the type's order.
    private let names: [String]
    /// The slot of each field.
    let slots: [Int]
    /// Whether the fields are the shape's, one for one.
    let isStraight: Bool

    init(_ fields: [String], in shape: Shape) {
        names = fields
        slots = fields.map { shape.slot(of: $0) ?? Self.none }
        isStraight = slots.count == shape.count && slots.enumerated().allSatisfy { $0 == $1 }
    }

    /// Whether the field at `ordinal` is `name`.
    @inline(__always)
    func holds(_ name: String, at ordinal: Int) -> Bool {
        guard ordinal < names.count else { return false }
        return names[ordinal].isIdentical(to: name) || names[ordinal].hasSameBytes(as: name)
    }
}

/// The plans of one shape, each made once. The shape, which belongs to one cache, keeps them.
final class SlotPlans: Sendable {
    /// The first type whose fields are the shape's, one for one, as the bits of its identity; 0
    /// before there is one. Most shapes have just one such type, and it costs no lock.
    private let owner = Atomic<UInt>(0)
    private let others = Mutex<[ObjectIdentifier: SlotPlan]>([:])

    /// Whether the fields of `type` are known, without a look-up, to be the shape's, one for one.
    @inline(__always)
    func isStraight(_ type: ObjectIdentifier) -> Bool {
        owner.load(ordering: .relaxed) == UInt(bitPattern: type)
    }

    /// Returns the plan of `type`; nil where its fields are the shape's, one for one.
    func plan(for type: ObjectIdentifier, _ fields: () -> [String], in shape: Shape) -> SlotPlan? {
        if let plan = others.withLock({ $0[type] }) { return plan.isStraight ? nil : plan }
        let plan = SlotPlan(fields(), in: shape)
        if plan.isStraight {
            let bits = UInt(bitPattern: type)
            let (exchanged, known) = owner.compareExchange(
                expected: 0, desired: bits, ordering: .relaxed)
            if exchanged || known == bits { return nil }
        }
        others.withLock { $0[type] = plan }
        return plan.isStraight ? nil : plan
    }
}
