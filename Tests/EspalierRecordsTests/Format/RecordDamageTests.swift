import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("A damaged record is found")
struct RecordDamageTests {
    static let samples: [[UInt8]] = [
        RecordLayoutTests.build(),
        RecordLayoutTests.build(Handle(1_000), .own(RecordLayoutTests.shape)),
        RecordLayoutTests.build(Handle(1_000), .none, children: []),
    ]

    @Test("Every change of every single byte of a record is found", arguments: samples)
    func everyByte(sample: [UInt8]) {
        for position in sample.indices {
            for flip in UInt8(1)...255 {
                var damaged = sample
                damaged[position] ^= flip
                #expect(throws: (any Error).self, "byte \(position) ^ \(flip)") {
                    try RecordLayoutTests.parse(damaged)
                }
            }
        }
    }

    @Test("A record that is too short or too long is refused", arguments: samples)
    func lengths(sample: [UInt8]) {
        for count in sample.indices {
            #expect(throws: (any Error).self) {
                try RecordLayoutTests.parse(Array(sample[..<count]))
            }
        }
        #expect(throws: (any Error).self) { try RecordLayoutTests.parse(sample + [0]) }
        #expect(throws: (any Error).self) { try RecordLayoutTests.parse([0] + sample) }
    }

    @Test("A record in another's place fails its check")
    func misplaced() throws {
        #expect(throws: FormatError.checkFailed) {
            try RecordLayoutTests.parse(RecordLayoutTests.build(), Handle(1_001))
        }
    }

    @Test("A record fails its check when its shape's number means another shape")
    func otherShape() {
        let other = Shape(type: "Person", fields: ["friends", "name"])
        #expect(throws: FormatError.checkFailed) {
            try taken(RecordLayoutTests.build()) {
                try Record(reading: &$0, handle: Handle(1_000)) { _ in other }
            }
        }
    }

    @Test("The undamaged record is read")
    func canary() throws {
        for sample in Self.samples {
            #expect(throws: Never.self) { try RecordLayoutTests.parse(sample) }
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
                // The first byte is the version: a change may make it a newer one.
                #expect(
                    reason.name == (position == 0 ? "newerVersion" : "damaged"), "byte \(position)")
            }
            source.records[handle] = record
        }
        #expect(try source.read("node:1", as: .node).get() == tree)
    }
}
