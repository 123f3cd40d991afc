#if CommandLine
import EspalierRecords
import EspalierStore
import EspalierTestSupport
import Testing

@testable import EspalierCLI

@Suite("Stored values as JSON")
struct ValueNotationTests {
    private func text(_ value: RecordValue) -> String {
        JSONWriter().string(
            from: ValueNotation.json(value) { RecordReference.node("n:\($0)").json })
    }

    /// Parses `text`, with references numbered.
    private func value(_ text: String) throws -> RecordValue {
        let json = try JSONParser.parse(
            Array(text.utf8), maximumDepth: ValueNotation.maximumJSONDepth)
        return try ValueNotation.value(json) { reference in
            guard case .node(let identifier) = reference else { return 1_000 }
            return Int(identifier.dropFirst(2)) ?? -1
        }
    }

    private static let table: [(RecordValue, String)] = [
        (.null, "null"), (.bool(true), "true"), (.integer(-7), "-7"),
        (.integer(.min), "-9223372036854775808"),
        (.unsigned(.max), "18446744073709551615"), (.double(1), "1.0"), (.double(-0.0), "-0.0"),
        (.double(0.1), "0.1"),
        (.double(.leastNonzeroMagnitude), "5e-324"), (.double(.nan), #"{"$double":"nan"}"#),
        (.double(-.infinity), #"{"$double":"-inf"}"#),
        (
            .double(Double(bitPattern: 0xFFF8_0000_0000_0001)),
            #"{"$double":"nan:fff8000000000001"}"#
        ),
        (.double(.signalingNaN), #"{"$double":"nan:7ff4000000000000"}"#),
        (.float(0.1), #"{"$float":"0.1"}"#), (.float(1), #"{"$float":"1.0"}"#),
        (.float(.infinity), #"{"$float":"inf"}"#),
        (.float(.nan), #"{"$float":"nan"}"#), (.string("日本 é"), #""日本 é""#),
        (.string("$ref"), #""$ref""#),
        (.bytes([0, 1, 2]), #"{"$bytes":"AAEC"}"#), (.bytes([]), #"{"$bytes":""}"#),
        (.decimal("0.10"), #"{"$decimal":"0.10"}"#),
        (.wide(high: 0, low: 1 << 63, signed: true), #"{"$int128":"9223372036854775808"}"#),
        (
            .wide(high: .max, low: .max, signed: false),
            #"{"$uint128":"340282366920938463463374607431768211455"}"#
        ),
        (
            .wide(high: 1 << 63, low: 0, signed: true),
            #"{"$int128":"-170141183460469231731687303715884105728"}"#
        ),
        (.absent, #"{"$absent":true}"#), (.child(3), #"{"$ref":"n:3"}"#), (.array([]), "[]"),
        (.map([]), "{}"),
        (
            .map([.init(key: .string("b"), value: .null), .init(key: .string("a"), value: .null)]),
            #"{"b":null,"a":null}"#
        ),
        (.map([.init(key: .string("$x"), value: .null)]), #"{"$map":[["$x",null]]}"#),
        (.map([.init(key: .integer(1), value: .child(0))]), #"{"$map":[[1,{"$ref":"n:0"}]]}"#),
        (
            .map([.init(key: .string("a"), value: .null), .init(key: .string("a"), value: .null)]),
            #"{"$map":[["a",null],["a",null]]}"#
        ),
        (
            .map([
                .init(key: .string("é"), value: .null),
                .init(key: .string("e\u{301}"), value: .null),
            ]),
            "{\"é\":null,\"e\u{301}\":null}"
        ),
    ]

    @Test("Every kind of value has its notation and reads back from it", arguments: table.indices)
    func forms(index: Int) throws {
        let (stored, text) = Self.table[index]
        #expect(self.text(stored) == text)
        #expect(try value(text).bytes == stored.bytes)
    }

    @Test("Random values read back to the byte", arguments: [1, 2, 3, 4] as [UInt64])
    func random(seed: UInt64) throws {
        var values = RandomValues(random: SeededGenerator(seed: seed), childCount: 9)
        for _ in 0..<5_000 {
            let stored = values.value()
            let text = text(stored)
            #expect(try value(text).bytes == stored.bytes, "\(text)")
        }
    }

    @Test("Floating point of any bits reads back")
    func floatingPoint() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<20_000 {
            let double = RecordValue.double(Double(bitPattern: random.next()))
            let float = RecordValue.float(
                Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
            #expect(try value(text(double)).bytes == double.bytes)
            #expect(try value(text(float)).bytes == float.bytes)
        }
    }

    @Test("Values are read as deep as the tool reads, and no deeper")
    func depth() throws {
        for isMap in [true, false] {
            func nested(_ depth: Int) -> RecordValue {
                (1..<depth).reduce(.null) { inner, _ in
                    isMap ? .map([.init(key: .integer(1), value: inner)]) : .array([inner])
                }
            }
            let deepest = nested(ValueNotation.maximumDepth)
            #expect(try value(text(deepest)).bytes == deepest.bytes)
            #expect(throws: LineProblem.self) {
                try value(text(nested(ValueNotation.maximumDepth + 1)))
            }
        }
    }

    @Test("Notation edited by hand is read too: digits beyond 64 bits, other orders")
    func foreign() throws {
        #expect(
            try value("12345678901234567890123").bytes
                == RecordValue.decimal("12345678901234567890123").bytes)
        #expect(try value(#"{"$double":"1.5"}"#).bytes == RecordValue.double(1.5).bytes)
        #expect(try value(#"{"$deleted":7}"#) == .child(1_000))
        for text in ["-12.5", "+1", "1e400", "1.5E-7", "NaN"] {
            #expect(try value(#"{"$decimal":"\#(text)"}"#) == .decimal(text))
        }
        #expect(try value(#"{"$int128":"-1"}"#) == .integer(-1))
        #expect(try value(#"{"$uint128":"5"}"#) == .integer(5))
        #expect(try value(#"{"$uint128":"18446744073709551615"}"#) == .unsigned(.max))
        #expect(
            text(try value(#"{"$map":[[300,1],[-1,2],[3,3]]}"#))
                == #"{"$map":[[3,3],[300,1],[-1,2]]}"#)
        #expect(text(try value(#"{"$map":[["b",1],["$a",2]]}"#)) == #"{"$map":[["b",1],["$a",2]]}"#)
    }

    @Test(
        "An invalid value is reported with what its mark takes",
        arguments: [
            (#"{"$ref":7}"#, "$ref takes an identifier"),
            (#"{"$ref":""}"#, "$ref takes an identifier"),
            (#"{"$ref":"a","b":1}"#, "$ref is not a mark"),
            (#"{"$nothing":1}"#, "$nothing is not a mark"),
            (#"{"a":1,"$b":1}"#, "$b is not a mark"), (#"{"$deleted":-1}"#, "$deleted takes"),
            (#"{"$lost":"1"}"#, "$lost takes"), (#"{"$absent":false}"#, "$absent takes true"),
            (#"{"$bytes":"?"}"#, "$bytes takes Base64"), (#"{"$bytes":1}"#, "$bytes takes Base64"),
            (#"{"$decimal":1}"#, "$decimal takes digits"),
            (#"{"$decimal":""}"#, "$decimal takes digits"),
            (#"{"$decimal":"1٢"}"#, "$decimal takes digits"),
            (#"{"$decimal":"1e"}"#, "$decimal takes digits"),
            (#"{"$decimal":"nan"}"#, "$decimal takes digits"),
            (#"{"$decimal":"1 "}"#, "$decimal takes digits"),
            (#"{"$int128":"x"}"#, "$int128 takes"),
            (#"{"$int128":"170141183460469231731687303715884105728"}"#, "$int128 takes"),
            (#"{"$uint128":"-1"}"#, "$uint128 takes"), (#"{"$float":1.5}"#, "$float takes"),
            (#"{"$float":"1e39"}"#, "$float takes"), (#"{"$double":"x"}"#, "$double takes"),
            (#"{"$double":"nan:0"}"#, "$double takes"), (#"{"$map":{}}"#, "$map takes"),
            (#"{"$map":[[1]]}"#, "$map takes"),
            (#"[[{"a":[{"$map":[1]}]}]]"#, "$map takes"),
        ])
    func wrong(text: String, message: String) throws {
        let error = #expect(throws: LineProblem.self) { try value(text) }
        #expect(error?.description.hasPrefix(message) == true, "\(String(describing: error))")
    }
}
#endif
