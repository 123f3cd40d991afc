import Synchronization

/// Where the fields of a type stand in records of one shape.
final class SlotPlan: Sendable {
    /// In place of the slot of a field that the shape does not have.
    static let none = -1

    /// A slot for each field of the type, in the type's order.
    let slots: [Int]
    /// Whether the fields are the shape's, one for one.
    let isStraight: Bool

    init(_ fields: [String], in shape: Shape) {
        slots = fields.map { shape.slot(of: $0) ?? Self.none }
        isStraight = slots.count == shape.count && slots.enumerated().allSatisfy { $0 == $1 }
    }
}

/// The plans of one shape, each found once. Kept by the shape, which belongs to one cache.
final class SlotPlans: Sendable {
    /// The type whose fields were found to be the shape's, one for one, as the bits of its
    /// identity; 0 for none yet. Most shapes have just one, and no lock is taken for it.
    private let owner = Atomic<UInt>(0)
    private let others = Mutex<[ObjectIdentifier: SlotPlan]>([:])

    /// Whether the fields of `type` are known to be the shape's, without a look at the others.
    @inline(__always)
    func isStraight(_ type: ObjectIdentifier) -> Bool {
        owner.load(ordering: .relaxed) == UInt(bitPattern: type)
    }

    /// Where the fields of `type` stand; nil where they are the shape's, one for one.
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
