import EspalierRecords

// Every walk ends when `body` returns false, and says whether it came to the end. The path is that
// of the value itself.
extension RecordValue {
    /// Visits every value that is no container: those in the array or the dictionary, or the one it
    /// is.
    func forEachLeaf(
        at path: inout FieldPath, _ body: (FieldPath, RecordValue) throws -> Bool
    ) rethrows -> Bool {
        switch self {
        case .array, .map:
            try forEachMember(at: &path) { path, member in try member.forEachLeaf(at: &path, body) }
        default: try body(path, self)
        }
    }

    /// Visits the values that `steps` lead to from here. Arrays are looked into wherever no place
    /// in them is asked for.
    func forEach(
        at steps: ArraySlice<FieldPath.Step>, path: inout FieldPath,
        _ body: (inout FieldPath, RecordValue) throws -> Bool
    ) rethrows -> Bool {
        guard let step = steps.first else { return try body(&path, self) }
        return try forEachMember(at: &path) { path, member in
            if path.steps.last == step {
                return try member.forEach(at: steps.dropFirst(), path: &path, body)
            }
            guard case .name = step, case .array = self else { return true }
            return try member.forEach(at: steps, path: &path, body)
        }
    }

    /// The elements of an array, the values of a dictionary. A key that may hold a reference is
    /// visited before its value.
    private func forEachMember(
        at path: inout FieldPath, _ body: (inout FieldPath, RecordValue) throws -> Bool
    ) rethrows -> Bool {
        switch self {
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                path.steps.append(.index(index))
                guard try body(&path, element) else { return false }
                path.steps.removeLast()
            }
        case .map(let entries):
            for (index, entry) in entries.enumerated() {
                path.steps.append(entry.key.step ?? .index(index))
                if entry.key.step == nil {
                    guard try body(&path, entry.key) else { return false }
                }
                guard try body(&path, entry.value) else { return false }
                path.steps.removeLast()
            }
        default: break
        }
        return true
    }

    /// The step that it is as a key; nil for a key that is neither text nor a small number: its
    /// place counts.
    private var step: FieldPath.Step? {
        switch self {
        case .string(let name): .name(name)
        case .integer(let key): Int(exactly: key).map(FieldPath.Step.index)
        default: nil
        }
    }
}
