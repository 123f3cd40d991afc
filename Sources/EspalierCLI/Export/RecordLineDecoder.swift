#if CommandLine
import EspalierRecords
import EspalierStore

/// Decodes lines into records. Records of the same shape share it.
struct RecordLineDecoder {
    private struct ShapeKey: Hashable {
        let types: [Identifier]
        let fields: [Identifier]
        let declarers: [UInt64]
    }

    private var shapes: [ShapeKey: Shape] = [:]
    /// The number of shapes after which the decoder forgets them.
    private static let capacity = 4_096

    /// Returns the record of a line. Throws for an invalid value.
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
                line.identifier, .node(shape(types, fields), encoder.value, isOnCycle: isOnCycle),
                age: line.age)
        case .key(let value):
            var encoder = ReferringValues()
            try encoder.append(value)
            return RestoredRecord(line.identifier, .key(encoder.value), age: line.age)
        case .collection(let elements):
            let values = try elements.enumerated().map { index, element throws(LineProblem) in
                var encoder = ReferringValues()
                do throws(LineProblem) {
                    try encoder.append(element)
                } catch {
                    throw error.at("element \(index)")
                }
                return encoder.value
            }
            return RestoredRecord(line.identifier, .collection(values), age: line.age)
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

/// Encodes values. Each target of references is one child, in the order of first use.
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
#endif
