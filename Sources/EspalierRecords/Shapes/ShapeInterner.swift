import Synchronization

/// Shapes of models met while flattening, so that a node costs no new shape.
///
/// Bounded: JSON whose objects have ever new sets of keys makes it start over, which costs time and
/// nothing else.
package final class ShapeInterner: Sendable {
    private struct Key: Hashable {
        let type: Identifier
        let fields: [Identifier]
    }

    private let shapes = Mutex<[Key: Shape]>([:])
    private let capacity: Int
    /// What else flatteners know of the trees before theirs.
    let sizes = TreeSizes()

    package init(capacity: Int = 4_096) { self.capacity = capacity }

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
