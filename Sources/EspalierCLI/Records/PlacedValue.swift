#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore
import Foundation

/// A value of a record, with its path: a field of a node, an element of a collection, or the value
/// of a key.
struct PlacedValue: Sendable {
    var path: FieldPath
    let value: RecordValue
    /// `RecordValue.child(2)` in the value is `children[2]`.
    let children: [Handle]

    func target(_ ordinal: Int) -> Handle? {
        children.indices.contains(ordinal) ? children[ordinal] : nil
    }

    /// The references in the value, in order.
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

/// A segment of a collection that cannot be read, and the indices of its elements.
struct UnreadableSegment: Sendable {
    let handle: Handle
    let elements: Range<Int>
}

extension Inspection {
    /// Visits the values of a record, those of a collection through its segments, until `body`
    /// returns false. The path of an element of a lone segment is its index in the segment.
    ///
    /// - Throws: `FormatError` if the record cannot be read.
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

// Every walk ends when `body` returns false, and returns whether it came to the end. `path` is the
// path of the value itself.
extension RecordValue {
    /// Visits every value that is not a container, at any depth.
    func forEachLeaf(
        at path: inout FieldPath, _ body: (FieldPath, RecordValue) throws -> Bool
    ) rethrows -> Bool {
        switch self {
        case .array, .map:
            try forEachMember(at: &path) { path, member in try member.forEachLeaf(at: &path, body) }
        default: try body(path, self)
        }
    }

    /// Visits the values to which `steps` lead. A name as a step leads through all elements of an
    /// array.
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

    /// Visits the elements of an array or the values of a dictionary. Visits a key that may hold a
    /// reference before its value.
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

    /// The step for this value as a key, or nil if it is neither text nor a small number. The step
    /// of such a key is its index.
    private var step: FieldPath.Step? {
        switch self {
        case .string(let name): .name(name)
        case .integer(let key): Int(exactly: key).map(FieldPath.Step.index)
        default: nil
        }
    }
}

extension JSONValue {
    /// Creates the JSON that `get` prints for a stored value.
    ///
    /// - Parameter reference: Returns the JSON for a reference.
    init(_ value: RecordValue, reference: (Int) throws -> JSONValue) rethrows {
        switch value {
        case .absent, .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .integer, .unsigned, .float, .double, .wide:
            self = JSONNumber(value).map { .number($0) } ?? .null
        case .string(let text): self = .string(text)
        case .bytes(let bytes): self = .string(Data(bytes).base64EncodedString())
        case .decimal(let digits):
            if case .number(let number)? = try? JSONParser.parse(Array(digits.utf8)) {
                self = .number(number)
            } else {
                self = .string(digits)
            }
        case .array(let elements):
            self = .array(try elements.map { try JSONValue($0, reference: reference) })
        case .map(let entries):
            self = .object(
                try entries.map { entry in
                    let key = try JSONValue(entry.key, reference: reference)
                    let value = try JSONValue(entry.value, reference: reference)
                    if case .string(let name) = key { return JSONMember(name: name, value: value) }
                    return JSONMember(name: key.text, value: value)
                })
        case .child(let ordinal): self = try reference(ordinal)
        }
    }
}

extension JSONNumber {
    /// Creates a number, or returns nil if `value` is not a binary number.
    init?(_ value: RecordValue) {
        switch value {
        case .integer(let value): self = .int(value)
        case .unsigned(let value): self = .uint(value)
        case .float(let value): self = .double(Double(value))
        case .double(let value): self = .double(value)
        case .wide(let high, let low, signed: true):
            self.init((Int128(truncatingIfNeeded: Int64(bitPattern: high)) << 64) | Int128(low))
        case .wide(let high, let low, signed: false):
            self.init((UInt128(high) << 64) | UInt128(low))
        default: return nil
        }
    }
}
#endif
