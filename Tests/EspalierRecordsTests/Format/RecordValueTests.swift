import EspalierRecords
import Testing

@Suite("Any stored value can be shown without its type")
struct RecordValueTests {
    static let cases: [(RecordValue, [UInt8])] = [
        (.absent, [Wire.absent]),
        (.null, written { $0.append(null: ()) }),
        (.bool(true), written { $0.append(value: true) }),
        (.integer(.min), written { $0.append(value: Int64.min) }),
        (.integer(.max), written { $0.append(value: UInt64(Int64.max)) }),
        (.unsigned(.max), written { $0.append(value: UInt64.max) }),
        (.float(1.5), written { $0.append(value: Float(1.5)) }),
        (.double(-0.25), written { $0.append(value: -0.25) }),
        (.string("añ🐈\0"), written { $0.append(value: "añ🐈\0") }),
        (.bytes([0, 255]), written { $0.append(value: [UInt8(0), 255]) }),
        (.decimal("1e400"), written { $0.append(decimal: "1e400") }),
        (
            .wide(high: .max, low: 5, signed: true),
            written { $0.append(wide: .max, 5, signed: true) }
        ),
        (
            .wide(high: .max, low: 5, signed: false),
            written { $0.append(wide: .max, 5, signed: false) }
        ),
        (.wide(high: 1, low: 5, signed: false), written { $0.append(wide: 1, 5, signed: false) }),
        (.child(300), written { $0.append(child: 300) }),
        (
            .array([.null, .array([]), .child(0)]),
            written {
                $0.append(arrayOf: 3)
                $0.append(null: ())
                $0.append(arrayOf: 0)
                $0.append(child: 0)
            }
        ),
    ]

    @Test("Each kind of value is read and written without its type", arguments: cases)
    func kinds(value: RecordValue, bytes: [UInt8]) throws {
        #expect(try takenWhole(bytes) { try RecordValue(reading: &$0) } == value)
        #expect(written { $0.append(value) } == bytes)
    }

    @Test("A map keeps its entries in order")
    func map() throws {
        let bytes = try encoded(["b": 1, "a": 2])
        try reading(bytes) { reader in
            guard case .map(let entries) = try RecordValue(reading: &reader) else {
                Issue.record("no map"); return
            }
            #expect(entries.map(\.key) == [.string("a"), .string("b")])
            #expect(entries.map(\.value) == [.integer(2), .integer(1)])
        }
    }

    @Test(
        "Children and wide integers of a width that is never written are refused",
        arguments: [UInt8(1), 3, 4])
    func unknownWidths(type: UInt8) {
        #expect {
            try taken([Wire.ext8, 2, type, 0, 0]) { try RecordValue(reading: &$0) }
        } throws: { error in
            if case .malformed? = error as? FormatError { true } else { false }
        }
    }
}
