import Synchronization

/// The shapes of models that flatteners have met, so that a node costs no new shape.
///
/// The table is bounded. JSON whose objects have ever new sets of keys makes it start over, which
/// costs only time.
package final class ShapeInterner: Sendable {
    private struct Key: Hashable {
        let type: Identifier
        let fields: [Identifier]
    }

    // immutable
    private let capacity: Int
    /// The sizes of the trees that other flatteners have made.
    let sizes = TreeSizes()

    private let shapes = Mutex<[Key: Shape]>([:])

    package init(capacity: Int = 4_096) { self.capacity = capacity }

    /// Returns the shape of a type's fields. Throws if a field occurs twice.
    func shape(type: String, fields: [String]) throws(FlattenError) -> Shape {
        let key = Key(type: Identifier(type), fields: fields.map(Identifier.init))
        if let shape = shapes.withLock({ $0[key] }) { return shape }
        var seen: Set<Identifier> = []
        for field in key.fields where !seen.insert(field).inserted {
            throw .duplicateField(type: type, field: field.string)
        }
        let shape = Shape(type: type, fields: fields)
        return shapes.withLock { shapes in
            if shapes.count >= capacity { shapes.removeAll() }
            shapes[key] = shape
            return shape
        }
    }
}

/// The types met while a tree is flattened, and for each the shape of its last node, which the next
/// one is expected to have.
///
/// A tree has few types. The first of them are searched one by one, which costs a tenth of a
/// look-up by hash.
struct LastShapes: Sendable {
    private static let searched = 16

    private(set) var types: [String] = []
    /// All shapes met, each once. The first one stands for a type that was not met before.
    private(set) var shapes: [Shape] = [.none]
    /// The position among `shapes` of each type's last one; 0 for none.
    private var last: [Int] = []
    /// The positions of the types that are not searched.
    private var rest: [Identifier: Int] = [:]
    private var places: [ObjectIdentifier: Int] = [:]

    /// Returns the position of `type`, which never changes, and adds the type if it is new.
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

    /// Returns the position of the last shape of the type at `place`.
    @inline(__always)
    func shape(ofTypeAt place: Int) -> Int { last[place] }

    /// Returns the shape at a position; nil for 0.
    @inline(__always)
    func expected(at index: Int) -> Shape? { index == 0 ? nil : shapes[index] }

    /// Makes `shape` the last one of the type at `place`, and returns its position.
    mutating func setShape(_ shape: Shape, ofTypeAt place: Int) -> Int {
        last[place] = index(of: shape)
        return last[place]
    }

    subscript(place: Int) -> Shape? {
        get { expected(at: last[place]) }
        set { last[place] = newValue.map { index(of: $0) } ?? 0 }
    }

    /// Returns the position of `shape`, and adds the shape if it is new. Leaves the last shape of
    /// its type as it is.
    mutating func position(of shape: Shape) -> Int { index(of: shape) }

    private mutating func index(of shape: Shape) -> Int {
        if let index = places[ObjectIdentifier(shape)] { return index }
        shapes.append(shape)
        places[ObjectIdentifier(shape)] = shapes.count - 1
        return shapes.count - 1
    }
}

/// The size of the last tree of each type. The next tree of the type gets as much memory at once:
/// growing moved each node of a feed once more, which took a tenth of its time.
///
/// Only the last tree counts, and up to a limit, so that trees that wait to be written hold little
/// more than they use.
final class TreeSizes: Sendable {
    struct Size {
        let nodes: Int
        let values: Int
        let children: Int

        /// Makes the size of `tree`, up to the limits.
        init(of tree: FlattenedTree) {
            nodes = min(tree.count, TreeSizes.mostNodes)
            values = min(tree.values.count, TreeSizes.mostValues)
            children = min(tree.children.count, TreeSizes.mostNodes * 2)
        }
    }

    private static let leastNodes = 32
    private static let mostNodes = 1_024
    private static let mostValues = 128 << 10
    private static let mostTypes = 64

    private let last = Mutex<[Identifier: Size]>([:])

    /// Returns the size of the last tree whose outermost node was of `type`; nil where the tree was
    /// small or there was none.
    func last(of type: String) -> Size? {
        last.withLock { $0.isEmpty ? nil : $0[Identifier(type)] }
    }

    /// Remembers the size of `tree`.
    func record(_ tree: FlattenedTree) {
        guard tree.count > 0 else { return }
        let type = Identifier(tree.type(at: 0))
        let size = Size(of: tree)
        last.withLock { last in
            if tree.count < Self.leastNodes {
                if !last.isEmpty { last[type] = nil }
            } else if last.count < Self.mostTypes || last[type] != nil {
                last[type] = size
            }
        }
    }
}
