/// Where each field of one record stands, for fields asked for in another order than they were
/// encoded in: a type whose declared fields are not the shape's.
///
/// The shape's own table, made once per shape, maps names to slots; the plan adds the places, which
/// differ by record.
package final class FieldPlan {
    /// The position of each slot's value.
    let offsets: [Int]
    /// The names, for an inline model; a shape has its own.
    let names: [String]
    private let slots: [Identifier: Int]

    init(reader: inout ByteReader, shape: Shape?, count: Int) throws(FormatError) {
        var offsets: [Int] = []
        var names: [String] = []
        var slots: [Identifier: Int] = [:]
        offsets.reserveCapacity(count)
        for slot in 0..<count {
            if shape == nil {
                guard let name = try reader.takeString() else {
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
