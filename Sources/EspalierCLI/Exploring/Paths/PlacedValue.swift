import EspalierRecords
import EspalierStore

/// One of the values that a record is made of, and where in it: a field of a node, an element of a
/// collection, what a key names.
struct PlacedValue: Sendable {
    var path: FieldPath
    let value: RecordValue
    /// `RecordValue.child(2)` in the value is `children[2]`.
    let children: [Handle]

    func target(_ ordinal: Int) -> Handle? {
        children.indices.contains(ordinal) ? children[ordinal] : nil
    }

    /// Each reference in the value, in order.
    var references: [(path: FieldPath, target: Handle)] {
        var path = path
        var found: [(path: FieldPath, target: Handle)] = []
        _ = value.forEachLeaf(at: &path) { path, leaf in
            if case .child(let ordinal) = leaf, let target = target(ordinal) {
                found.append((path, target))
            }
            return true
        }
        return found
    }
}

/// A segment whose elements can't be read, and where they are missing.
struct UnreadableSegment: Sendable {
    let handle: Handle
    let elements: Range<Int>
}

extension Inspection {
    /// Visits the values of a record, those of a collection through its segments, until `body`
    /// returns false. An element of a segment by itself stands where it does in the segment. Throws
    /// a `FormatError` if the record can't be read.
    func forEachValue(
        of record: Record, unreadable: (UnreadableSegment) throws -> Void = { _ in },
        _ body: (PlacedValue) throws -> Bool
    ) throws {
        switch record.nameSpace {
        case .node:
            for (field, value) in try record.fields() where value != .absent {
                let path = FieldPath(steps: [.name(field.name)])
                guard try body(PlacedValue(path: path, value: value, children: record.children))
                else { return }
            }
        case .key:
            _ = try body(
                PlacedValue(
                    path: FieldPath(), value: try record.keyValue(), children: record.children))
        case .segment: _ = try forEachElement(try record.elements(), from: 0, body)
        case .collection:
            for (handle, range) in try record.segments() {
                if let elements = try elements(ofSegment: handle) {
                    guard try forEachElement(elements, from: range.lowerBound, body) else { return }
                } else {
                    try unreadable(UnreadableSegment(handle: handle, elements: range))
                }
            }
        }
    }

    private func elements(ofSegment handle: Handle) throws -> [ShownValue]? {
        guard case .record(let record) = try record(handle), record.nameSpace == .segment else {
            return nil
        }
        return try? record.elements()
    }

    private func forEachElement(
        _ elements: [ShownValue], from start: Int, _ body: (PlacedValue) throws -> Bool
    ) throws -> Bool {
        for (index, element) in elements.enumerated() {
            let path = FieldPath(steps: [.index(start + index)])
            let value = PlacedValue(path: path, value: element.value, children: element.children)
            guard try body(value) else { return false }
        }
        return true
    }
}
