/// The types met while a tree is flattened, and the shape of the last node of each: what the next
/// one is expected to have.
///
/// A tree has few types: the first of them are searched one by one, which costs a tenth of a
/// look-up by hash.
struct LastShapes {
    private static let searched = 16

    private(set) var types: [String] = []
    /// All shapes met, each once. The first is what nodes have whose type was not met before.
    private(set) var shapes: [Shape] = [.none]
    /// The place among `shapes` of each type's last one; 0 for none.
    private var last: [Int] = []
    /// Places of the types that are not searched.
    private var rest: [Identifier: Int] = [:]
    /// Places of shapes, by the shapes themselves.
    private var places: [ObjectIdentifier: Int] = [:]

    /// The place of `type`, given out now if it is new; it stays what it is.
    @inline(__always)
    mutating func place(of type: String) -> Int {
        // Most names are literals: where those are the same, their bytes need no comparison.
        for place in 0..<min(types.count, Self.searched) where types[place].isIdentical(to: type) {
            return place
        }
        return search(for: type)
    }

    @inline(never)
    private mutating func search(for type: String) -> Int {
        for place in 0..<min(types.count, Self.searched) where types[place].hasSameBytes(as: type) {
            return place
        }
        if types.count > Self.searched, let place = rest[Identifier(type)] { return place }
        let place = types.count
        types.append(type)
        last.append(0)
        if place >= Self.searched { rest[Identifier(type)] = place }
        return place
    }

    /// Where the last shape of the type at `place` stands.
    @inline(__always)
    func shape(ofTypeAt place: Int) -> Int { last[place] }

    /// A shape by where it stands; nil for none.
    @inline(__always)
    func expected(at index: Int) -> Shape? { index == 0 ? nil : shapes[index] }

    /// Where a shape stands, which becomes the last one of the type at `place`.
    mutating func setShape(_ shape: Shape, ofTypeAt place: Int) -> Int {
        last[place] = index(of: shape)
        return last[place]
    }

    subscript(place: Int) -> Shape? {
        get { expected(at: last[place]) }
        set { last[place] = newValue.map { index(of: $0) } ?? 0 }
    }

    private mutating func index(of shape: Shape) -> Int {
        if let index = places[ObjectIdentifier(shape)] { return index }
        shapes.append(shape)
        places[ObjectIdentifier(shape)] = shapes.count - 1
        return shapes.count - 1
    }
}
