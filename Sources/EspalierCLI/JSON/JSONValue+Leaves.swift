extension JSONValue {
    /// Visits what is neither an array nor an object with something in it, and where it stands:
    /// everything that is not made of other values.
    func forEachLeaf(
        at path: FieldPath = FieldPath(), _ body: (FieldPath, JSONValue) throws -> Void
    ) rethrows {
        switch self {
        case .array(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() {
                try element.forEachLeaf(at: path.appending(.index(index)), body)
            }
        case .object(let members) where !members.isEmpty:
            for member in members {
                try member.value.forEachLeaf(at: path.appending(.name(member.name)), body)
            }
        default: try body(path, self)
        }
    }
}
