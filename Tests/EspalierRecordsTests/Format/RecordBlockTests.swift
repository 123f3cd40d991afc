import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Blocks of records")
struct RecordBlockTests {
    static let shapes: [Shape] = [
        Shape(type: "Person", fields: ["name"]), Shape(type: "Note", fields: ["text", "author"]),
    ]

    /// Builds a block of one record for each handle, with the shapes in turn.
    static func block(
        _ handles: [UInt64], shapes lookUp: ((UInt64) -> Shape?)? = nil
    ) throws -> RecordBlock {
        var buffers: [RecordBuffer] = []
        let records = handles.enumerated().map { index, handle in
            let reference = RecordLayout.ShapeReference.number(
                UInt64(index % 2 + 1), shapes[index % 2])
            let buffer = RecordBuffer(
                RecordLayout.build(
                    handle: Handle(handle), nameSpace: .node, shape: reference,
                    children: [Handle(handle + 5)], identifier: "n:\(handle)",
                    values: Array(repeating: Wire.null, count: index % 2 + 1)))
            buffers.append(buffer)
            return BlockRecord(
                handle: Handle(handle), bytes: buffer.reader, shape: BlockShape(reference))
        }
        var writer = ByteWriter()
        withExtendedLifetime(buffers) { RecordBlock.write(records[...], to: &writer) }
        let first = Handle(handles[0])
        return try RecordBlock(
            RecordBuffer(writer.bytes), first: first,
            check: writer.check(seed: RecordLayout.seed(handle: first)),
            shapes: lookUp ?? { $0 > 0 && $0 <= 2 ? shapes[Int($0) - 1] : nil })
    }

    @Test(
        "A block has exactly its records, whatever gaps are between the handles",
        arguments: [[1], [1, 2, 3, 4], [1, 3, 4, 5, 9], [5, 1_000_000, 1 << 60], [7, 8, 10, 11]])
    func records(handles: [UInt64]) throws {
        let block = try Self.block(handles)
        #expect(block.handles == handles.map { Handle($0) })
        #expect(block.last == Handle(handles.last ?? 0))
        for (index, handle) in handles.enumerated() {
            let reader = try #require(try block.record(Handle(handle)))
            let record = try Record(reading: reader, handle: Handle(handle)) {
                Self.shapes[Int($0) - 1]
            }
            #expect(record.identifier == "n:\(handle)")
            #expect(record.shape == Self.shapes[index % 2])
            #expect(record.children == [Handle(handle + 5)])
        }
        for missing in [0, 6, 12, 999_999] as [UInt64] where !handles.contains(missing) {
            let found = try block.record(Handle(missing)) != nil
            #expect(!found)
        }
    }

    @Test("A record whose shape is not there is refused, and the records beside it are read")
    func refused() throws {
        let block = try Self.block([1, 2, 3, 4]) { $0 == 1 ? Self.shapes[0] : nil }
        #expect(!block.isWhole)
        for handle in [1, 3] as [UInt64] {
            let found = try block.record(Handle(handle)) != nil
            #expect(found)
        }
        for handle in [2, 4] as [UInt64] {
            #expect(throws: FormatError.unknownShape(2)) { _ = try block.record(Handle(handle)) }
        }
        let swapped = try Self.block([1, 2]) { Self.shapes[2 - Int($0)] }
        #expect(throws: FormatError.checkFailed) { _ = try swapped.record(Handle(1)) }
    }

    @Test("A record that moves to another block keeps its shape")
    func moved() throws {
        let block = try Self.block([1, 2, 3])
        let records = try (0..<3).map { try block.blockRecord(at: $0) }
        var writer = ByteWriter()
        RecordBlock.write(records[1...], to: &writer)
        let moved = try RecordBlock(
            RecordBuffer(writer.bytes), first: Handle(2),
            check: writer.check(seed: RecordLayout.seed(handle: Handle(2))),
            shapes: { Self.shapes[Int($0) - 1] })
        #expect(moved.handles == [Handle(2), Handle(3)])
        #expect(moved.isWhole)
        withExtendedLifetime(block) {}
    }
}
