/// Where the fields of a type stand in records of one shape. Kept by the shape, which belongs to one cache.
final class SlotPlan: Sendable {
    /// In place of the slot of a field that the shape does not have.
    static let none = -1

    /// A slot for each field of the type, in the type's order.
    let slots: [Int]
    /// Whether the fields are the shape's, one for one.
    let isStraight: Bool

    init(_ slots: [Int], of count: Int) {
        self.slots = slots
        isStraight = slots.count == count && slots.enumerated().allSatisfy { $0 == $1 }
    }
}
