import EspalierRecords
import EspalierStore

/// Makes records of lines, with shapes that equal ones share.
struct RecordLineDecoder {
    private struct ShapeKey: Hashable {
        let types: [Identifier]
        let fields: [Identifier]
        let declarers: [UInt64]
    }

    private var shapes: [ShapeKey: Shape] = [:]
    /// Files of ever new shapes make it start over.
    private static let capacity = 4_096

    /// The record that a line says. Throws for a value that is none.
    mutating func record(_ line: RecordLine) throws(LineProblem) -> RestoredRecord {
        switch line.content {
        case .node(let types, let fields, let isOnCycle):
            var encoder = ReferringValues()
            for field in fields {
                do {
                    try encoder.append(field.value)
                } catch {
                    throw error.at("field \(field.name)")
                }
            }
            return RestoredRecord(
                line.identifier, .node(shape(types, fields), encoder.value, isOnCycle: isOnCycle))
        case .key(let value):
            var encoder = ReferringValues()
            try encoder.append(value)
            return RestoredRecord(line.identifier, .key(encoder.value))
        case .collection(let elements):
            var values: [RestoredValue] = []
            values.reserveCapacity(elements.count)
            for (index, element) in elements.enumerated() {
                var encoder = ReferringValues()
                do {
                    try encoder.append(element)
                } catch {
                    throw error.at("element \(index)")
                }
                values.append(encoder.value)
            }
            return RestoredRecord(line.identifier, .collection(values))
        }
    }

    private mutating func shape(_ types: [String], _ fields: [RecordLine.Field]) -> Shape {
        let key = ShapeKey(
            types: types.map(Identifier.init), fields: fields.map { Identifier($0.name) },
            declarers: fields.map(\.declarers))
        if let shape = shapes[key] { return shape }
        let shape = Shape(
            types: types, fields: fields.map { Shape.Field(name: $0.name, declarers: $0.declarers) }
        )
        if shapes.count >= Self.capacity { shapes.removeAll() }
        shapes[key] = shape
        return shape
    }
}

/// Encodes values one after the other; each thing referred to is one child, by first use.
private struct ReferringValues: ~Copyable {
    private var writer = ByteWriter()
    private var references: [RecordReference] = []
    private var ordinals: [RecordReference: Int] = [:]

    var value: RestoredValue { RestoredValue(bytes: writer.bytes, references: references) }

    mutating func append(_ json: JSONValue) throws(LineProblem) {
        let value = try ValueNotation.value(json) { reference in
            if let ordinal = ordinals[reference] { return ordinal }
            ordinals[reference] = references.count
            references.append(reference)
            return references.count - 1
        }
        writer.append(value)
    }
}
