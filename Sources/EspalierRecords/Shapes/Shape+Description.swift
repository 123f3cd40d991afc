/// A shape as bytes: in the `shapes` keyspace, and inside records that carry their shape
/// themselves.
///
///     description = count of types, types, count of fields, fields
///     field       = name, declarers (varint)
extension Shape {
    package var description: [UInt8] { Self.description(types: types, fields: fields) }

    static func description(types: [String], fields: [Field]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(varint: UInt64(types.count))
        for type in types { writer.append(string: type) }
        writer.append(varint: UInt64(fields.count))
        for field in fields {
            writer.append(string: field.name)
            writer.append(varint: field.declarers)
        }
        return writer.bytes
    }

    package static func read(from reader: inout ByteReader) throws(FormatError) -> Shape {
        let typeCount = try reader.count()
        guard typeCount <= maximumTypes else { throw .malformed("a shape with too many types") }
        var types: [String] = []
        for _ in 0..<typeCount { types.append(try reader.string(count: reader.count())) }
        let fieldCount = try reader.count(ofAtLeast: 2)
        var fields: [Field] = []
        fields.reserveCapacity(fieldCount)
        for _ in 0..<fieldCount {
            fields.append(
                Field(
                    name: try reader.string(count: reader.count()), declarers: try reader.varint()))
        }
        let shape = Shape(types: types, fields: fields)
        guard shape.hasUniqueNames else { throw .malformed("a shape that names a field twice") }
        return shape
    }

    private var hasUniqueNames: Bool {
        names.indices.allSatisfy { slot(of: names[$0]) == $0 }
    }
}
