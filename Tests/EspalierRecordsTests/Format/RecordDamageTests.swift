import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("A damaged block is found")
struct RecordDamageTests {
    static let handle = Handle(1_000)
    static let shape = RecordLayoutTests.shape

    static func sealed(_ reference: RecordLayout.ShapeReference, children: [Handle]) -> [UInt8] {
        DictionaryRecordSource.seal(
            RecordLayoutTests.build(handle, reference, children: children), handle, reference)
    }

    static let samples: [[UInt8]] = [
        sealed(.number(3, shape), children: [Handle(999), Handle(70_000)]),
        sealed(.own(shape), children: [Handle(999)]),
        sealed(.none, children: []),
    ]

    static func parse(_ bytes: [UInt8], _ handle: Handle = handle) throws -> Record {
        try DictionaryRecordSource.parse(bytes, handle) { $0 == 3 ? shape : nil }
    }

    @Test("Every change of every single byte of a block is found", arguments: samples)
    func everyByte(sample: [UInt8]) {
        for position in sample.indices {
            for flip in UInt8(1)...255 {
                var damaged = sample
                damaged[position] ^= flip
                #expect(throws: (any Error).self, "byte \(position) ^ \(flip)") {
                    try Self.parse(damaged)
                }
            }
        }
    }

    @Test("A block that is too short or too long is refused", arguments: samples)
    func lengths(sample: [UInt8]) {
        for count in sample.indices {
            #expect(throws: (any Error).self) { try Self.parse(Array(sample[..<count])) }
        }
        #expect(throws: (any Error).self) { try Self.parse(sample + [0]) }
        #expect(throws: (any Error).self) { try Self.parse([0] + sample) }
    }

    @Test("A block in another's place fails its check")
    func misplaced() throws {
        #expect(throws: FormatError.checkFailed) {
            try Self.parse(Self.samples[0], Handle(1_001))
        }
    }

    @Test("A record is refused when its shape's number means another shape, or none")
    func otherShape() {
        let other = Shape(type: "Person", fields: ["friends", "name"])
        #expect(throws: FormatError.checkFailed) {
            try DictionaryRecordSource.parse(Self.samples[0], Self.handle) { _ in other }
        }
        #expect(throws: FormatError.unknownShape(3)) {
            try DictionaryRecordSource.parse(Self.samples[0], Self.handle) { _ in nil }
        }
    }

    @Test("The undamaged block is read")
    func canary() throws {
        for sample in Self.samples {
            #expect(throws: Never.self) { try Self.parse(sample) }
        }
    }

    @Test("Every flipped byte inside a tree makes the read a miss and never a wrong tree")
    func inATree() throws {
        let source = DictionaryRecordSource()
        let child = TreeModel.filled(.node, "node:2", ["number": .scalar(.integer(7))])
        let tree = TreeModel.filled(
            .node, "node:1", ["number": .scalar(.string("a")), "next": .child(child)])
        try source.store(tree)
        for (handle, record) in source.records {
            for position in record.indices {
                source.records[handle] = record
                source.records[handle]?[position] ^= 0x10
                guard case .failure(let reason) = source.read("node:1", as: .node) else {
                    Issue.record("byte \(position) of \(handle) was not found")
                    continue
                }
                #expect(reason.name == "damaged", "byte \(position)")
            }
            source.records[handle] = record
        }
        #expect(try source.read("node:1", as: .node).get() == tree)
    }
}
