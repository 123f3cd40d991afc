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
        for _ in 0..<count {
            if shape == nil {
                guard let name = try Self.name(&reader) else {
                    // An entry of a map with other keys, which a type takes for its fields.
                    try reader.skipValue()
                    try reader.skipValue()
                    continue
                }
                names.append(name)
                if slots[Identifier(name)] == nil { slots[Identifier(name)] = offsets.count }
            }
            offsets.append(reader.position)
            try reader.skipValue()
        }
        self.offsets = offsets
        self.names = names
        self.slots = slots
    }

    /// Reads the name of a field: text, or the number under which a dictionary has a value.
    private static func name(_ reader: inout ByteReader) throws(FormatError) -> String? {
        if let text = try reader.readString() { return text }
        return try reader.readInteger(Int.self).map(String.init)
    }

    func slot(of name: String) -> Int? { slots[Identifier(name)] }
}

/// A list of field names, as it is compared with the names of fields: one after another, for each
/// field of each record.
@safe
final class FieldNames: @unchecked Sendable {
    let strings: [String]
    /// The words of `strings`, which keep the texts alive, and a zero, which no string has. Only
    /// `deinit` changes the memory.
    private let words: UnsafeMutablePointer<UInt128>?
    /// The list without its owner, who has to outlive it.
    let lent: Lent

    init(_ strings: [String]) {
        self.strings = strings
        let words = strings.compactMap(\.words)
        guard words.count == strings.count else {
            unsafe self.words = nil
            lent = .none
            return
        }
        let memory = UnsafeMutableBufferPointer<UInt128>.allocate(capacity: words.count + 1)
        _ = unsafe memory.initialize(from: words + CollectionOfOne(0))
        unsafe self.words = memory.baseAddress
        unsafe lent = Lent(words: UnsafePointer(memory.baseAddress))
    }

    deinit { unsafe words?.deallocate() }

    /// A list that a comparison does not retain. Retaining a shape or a plan for each field took a
    /// twentieth of reading a feed.
    @safe
    struct Lent: @unchecked Sendable {
        static var none: Lent { unsafe Lent(words: nil) }

        fileprivate let words: UnsafePointer<UInt128>?

        /// Returns whether the name at `index` is `name`, the same text in memory or short. False
        /// means that the texts may be equal all the same.
        ///
        /// - Parameter index: At most the number of names, at which no name stands.
        @inline(__always)
        func isIdentical(at index: Int, to name: String) -> Bool {
            guard let words = unsafe words, let word = name.words else { return false }
            return unsafe words[index] == word
        }
    }
}

/// The slots of the fields that a type expects, in records of one shape.
final class SlotPlan: Sendable {
    /// Stands for the slot of a field that the shape lacks.
    static let none = -1

    /// The fields, in the type's order.
    private let names: FieldNames
    let expected: FieldNames.Lent
    /// The slot of each field.
    let slots: [Int]
    /// Whether the fields are the shape's, one for one.
    let isStraight: Bool

    init(_ fields: [String], in shape: Shape) {
        names = FieldNames(fields)
        expected = names.lent
        slots = fields.map { shape.slot(of: $0) ?? Self.none }
        isStraight = slots.count == shape.count && slots.enumerated().allSatisfy { $0 == $1 }
    }

    /// Returns whether the field at `ordinal` is `name`, by the bytes of both.
    @inline(never)
    func hasName(_ name: String, at ordinal: Int) -> Bool {
        ordinal < slots.count && names.strings[ordinal].hasSameBytes(as: name)
    }
}

/// The plans of one shape, each made once. The shape, which belongs to one cache, keeps them.
struct SlotPlans: ~Copyable, Sendable {
    /// The first type whose fields are the shape's, one for one, as the bits of its identity; 0
    /// before there is one. Most shapes have just one such type, and it costs no lock.
    private let owner = Atomic<UInt>(0)
    /// The owner's plan, which `plans` keeps; stored before `owner`.
    private let ownersPlan = Atomic<UInt>(0)
    private let plans = Mutex<[ObjectIdentifier: SlotPlan]>([:])

    /// Returns the names that `type` expects if they are known, without a look-up, to be the
    /// shape's, one for one.
    @inline(__always)
    func straightNames(of type: ObjectIdentifier) -> FieldNames.Lent? {
        guard owner.load(ordering: .acquiring) == UInt(bitPattern: type),
            let plan = unsafe UnsafeRawPointer(bitPattern: ownersPlan.load(ordering: .relaxed))
        else { return nil }
        return unsafe Unmanaged<SlotPlan>.fromOpaque(plan)._withUnsafeGuaranteedRef {
            $0.expected
        }
    }

    /// Returns the plan of `type`.
    func plan(for type: ObjectIdentifier, _ fields: () -> [String], in shape: Shape) -> SlotPlan {
        if let plan = plans.withLock({ $0[type] }) { return plan }
        // Evaluated outside of the lock: the list is an application's code.
        let made = SlotPlan(fields(), in: shape)
        return plans.withLock { plans in
            if let plan = plans[type] { return plan }
            plans[type] = made
            if made.isStraight, ownersPlan.load(ordering: .relaxed) == 0 {
                let plan = unsafe UInt(bitPattern: Unmanaged.passUnretained(made).toOpaque())
                ownersPlan.store(plan, ordering: .relaxed)
                owner.store(UInt(bitPattern: type), ordering: .releasing)
            }
            return made
        }
    }
}
