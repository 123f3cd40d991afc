/// The shape of the last node of each type: what the next one is expected to have.
///
/// A tree has few types: the first of them are searched one by one, which costs a tenth of a look-up by hash.
struct LastShapes {
    private static let searched = 16

    private var types: [String] = []
    private var shapes: [Shape?] = []
    /// Places of the types that are not searched.
    private var rest: [Identifier: Int] = [:]

    /// The place of `type`, given out now if it is new; it stays what it is.
    mutating func place(of type: String) -> Int {
        for place in 0..<min(types.count, Self.searched) where types[place].hasSameBytes(as: type) {
            return place
        }
        if types.count > Self.searched, let place = rest[Identifier(type)] { return place }
        let place = types.count
        types.append(type)
        shapes.append(nil)
        if place >= Self.searched { rest[Identifier(type)] = place }
        return place
    }

    subscript(place: Int) -> Shape? {
        get { shapes[place] }
        set { shapes[place] = newValue }
    }
}
