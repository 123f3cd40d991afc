import EspalierRecords

/// A shape in the `shapes` keyspace, under its number.
///
///     entry = record count (varint), shape description, check (8 bytes)
struct StoredShape: Sendable {
    var recordCount: UInt64
    let shape: Shape

    func bytes(number: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(varint: recordCount)
        writer.append(shape.description)
        writer.append(integer: writer.check(seed: number))
        return writer.bytes
    }

    /// The most bytes its entry can come to.
    static func longest(for shape: Shape) -> Int { shape.description.count + 10 + 8 }

    init(recordCount: UInt64, shape: Shape) {
        self.recordCount = recordCount
        self.shape = shape
    }

    init(reading reader: inout ByteReader, number: UInt64) throws(FormatError) {
        _ = try reader.verifiedEnd(seed: number)
        recordCount = try reader.varint()
        shape = try Shape.read(from: &reader)
    }
}
