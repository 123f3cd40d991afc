import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

/// Values are read as they were written, to the bit.
struct BridgeValueTests {
    private let store = BridgeStore()

    private func check<Value: Codable & Equatable & Sendable>(_ values: Value...) throws {
        for value in values { #expect(try store.roundTrip(value) == value) }
        #expect(try store.roundTrip(values) == values)
        #expect(try store.roundTrip(Optional(values[0])) == values[0])
    }

    @Test(
        "Integers of every width are read as written through Codable, at both ends of their range")
    func integers() throws {
        try check(Int8.min, 0, .max)
        try check(Int16.min, 0, .max)
        try check(Int32.min, 0, .max)
        try check(Int64.min, 0, .max, 1 << 53 + 1)
        try check(Int.min, 0, .max, -1, -33, 127, 128, 255, 256, 65_535, 65_536)
        try check(UInt8.min, .max)
        try check(UInt16.min, .max)
        try check(UInt32.min, .max)
        try check(UInt64.min, .max, 1 << 63)
        try check(UInt.min, .max)
        try check(Int128.min, 0, .max, -1, Int128(Int64.min) - 1)
        try check(UInt128.min, 0, .max, UInt128(UInt64.max) + 1)
    }

    @Test("Floating-point values are read to the bit: NaN payloads, infinities, the negative zero")
    func floats() throws {
        for bits: UInt64 in [
            0x7FF8_0000_0000_1234, 0xFFF8_0000_0000_0001, 0x8000_0000_0000_0000,
            0x7FF0_0000_0000_0000, 1,
        ] {
            #expect(try store.roundTrip(Double(bitPattern: bits)).bitPattern == bits)
            #expect(try store.roundTrip([Double(bitPattern: bits)])[0].bitPattern == bits)
        }
        for bits: UInt32 in [0x7FC0_1234, 0x8000_0000, 0xFF80_0000, 1] {
            #expect(try store.roundTrip(Float(bitPattern: bits)).bitPattern == bits)
        }
        try check(0.1, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude)
    }

    @Test("Text is read in the bytes in which it was written")
    func strings() throws {
        for text in ["", "é", "e\u{301}", "👩‍👩‍👧", "\0", String(repeating: "日本", count: 40_000)] {
            #expect(try Array(store.roundTrip(text).utf8) == Array(text.utf8))
        }
    }

    @Test("Foundation's values are read exactly as they were written")
    func foundation() throws {
        try check(
            Date(timeIntervalSinceReferenceDate: 0.1), .distantPast, .distantFuture,
            Date(timeIntervalSince1970: 1e-9))
        try check(Data(), Data([0, 255]), Data(repeating: 7, count: 70_000))
        try check(UUID(), UUID(uuidString: "00000000-0000-0000-0000-000000000000") ?? UUID())
        let base = try #require(URL(string: "https://example.org/a/"))
        let urls = [
            base, try #require(URL(string: "b?c=d#e", relativeTo: base)),
            URL(fileURLWithPath: "/tmp/ü x/", isDirectory: true),
        ]
        for url in urls {
            let back = try store.roundTrip(url)
            #expect(back.relativeString == url.relativeString)
            #expect(back.baseURL == url.baseURL)
            #expect(back.absoluteString == url.absoluteString)
        }
    }

    @Test("Decimals are read exactly as they were written: all digits, all exponents, NaN")
    func decimals() throws {
        let digits = [
            "0", "-0.1", "1e127", "-1e-127", "1e-128", "340282366920938463463374607431768211455",
            "-340282366920938463463374607431768211455e-128",
            "340282366920938463463374607431768211455e127",
            "123456789012345678901234567890.12345678",
        ]
        for text in digits {
            let value = try #require(Decimal(string: text))
            #expect(try store.roundTrip(value) == value, "\(text)")
        }
        try check(
            Decimal.greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude, .pi)
        #expect(try store.roundTrip(Decimal.nan).isNaN)
    }

    private enum Colour: String, Codable, CodingKeyRepresentable { case red, green }
    private enum Level: Int, Codable { case low = 1, high = 2 }
    private struct Point: Codable, Hashable { var x = 1, y = 2 }
    private struct Tagged<Value: Codable & Hashable & Sendable>: Codable, Hashable, RawRepresentable
    {
        var rawValue: Value
    }

    @Test("Dictionaries are read as written, whatever their keys are")
    func dictionaries() throws {
        try check(["": 1, "b": 2])
        try check([1: "a", -1: "b", .max: "c"])
        try check([Colour.red: 1, .green: 2])
        try check([Level.low: [1], .high: []])
        try check([UUID(): Optional(1), UUID(): nil])
        try check([Point(): Point(x: 3), Point(x: 5): Point()])
        try check([[1, 2]: "a", []: "b"])
        try check([Tagged(rawValue: "x"): ["y": ["z": 1]]])
        try check([String: Int]())
    }

    @Test("Dictionaries keyed by models are read as they were written")
    func modelKeys() throws {
        let value = [Person(id: 1, name: "Ada"): 1, Person(id: 2, name: "Bob"): 2]
        #expect(try store.roundTrip(value) == value)
    }

    @Test("Sets and lists of any type are read as they were written")
    func collections() throws {
        try check(Set([3, 1, 2]), Set<Int>())
        try check(Set([Point(x: 1), Point(x: 2)]))
        try check(Set([Set(["a"]), Set([])]))
        try check([[[1]], [], [[], [2, 3]]] as [[[Int]]])
        try check(ContiguousArray([1, 2]))
        try check(1..<5)
        try check("a"..."b")
        let mixed: [Colour?] = [.red, nil, .green]
        #expect(try store.roundTrip(mixed) == mixed)
    }

    @Test("Nested optionals collapse to nil")
    func nestedOptionals() throws {
        #expect(try store.roundTrip(Int??.some(.some(1))) == 1)
        #expect(try store.roundTrip(Int??.some(nil)) == Int??.none)
        #expect(try store.roundTrip([Int??.some(nil), 2, nil]) == [nil, 2, nil])
    }

    private struct Everything: Codable, Equatable {
        var bool: Bool?, string: String?, double: Double?, float: Float?
        var int: Int?, int8: Int8?, int16: Int16?, int32: Int32?, int64: Int64?
        var uint: UInt?, uint8: UInt8?, uint16: UInt16?, uint32: UInt32?, uint64: UInt64?
        var int128: Int128?, uint128: UInt128?
        var date: Date?, point: Point?, person: Person?
    }

    @Test("A nil of any type is written as nil, so that a type has one shape")
    func nilsAreFields() throws {
        let full = Everything(
            bool: true, string: "s", double: 1, float: 2, int: 3, int8: 4, int16: 5, int32: 6,
            int64: 7, uint: 8,
            uint8: 9,
            uint16: 10, uint32: 11, uint64: 12, int128: 13, uint128: 14, date: Date(),
            point: Point(), person: Person())
        #expect(try store.roundTrip(full) == full)
        #expect(try store.roundTrip(Everything()) == Everything())
        try store.write(Holder(value: Everything()))
        guard case .map(let entries)? = try store.fields(of: "Holder").first?.value else {
            throw CancellationError()
        }
        #expect(entries.count == 19)
        #expect(entries.allSatisfy { $0.value == .null })
    }

    @Test("Equal dictionaries and sets are equal bytes, in whatever order they were filled")
    func deterministic() throws {
        let names = (0..<60).map { "key\($0)" }
        var first: [UInt8]?
        for seed in 0..<8 {
            var map: [String: Set<Point>] = [:]
            map.reserveCapacity(seed * 100)
            for name in names.shuffled() {
                map[name] = Set((0..<12).shuffled().map { Point(x: $0) })
            }
            try store.write(Holder(value: map))
            let bytes = store.bytes(of: "Holder")
            if let first { #expect(bytes == first) } else { first = bytes }
        }
    }
}

@Suite("Values that equal the names of fields")
struct BridgeNamesakeTests {
    struct Title: Codable, Equatable {
        var name: String?
        var title: String?
        var text: String?
    }

    struct Book: Codable, Equatable, NormalizedModel {
        var id = "b"
        let title: Title
        var modelIdentifier: String? { id }
    }

    @Test(
        "Values that equal the name of a field are not mistaken for names",
        arguments: ["name", "title", "text", "other"])
    func namesakes(value: String) throws {
        let titles = [
            Title(name: value, title: value, text: value),
            Title(name: nil, title: value, text: nil),
            Title(name: value, title: nil, text: "x"),
        ]
        for title in titles {
            let source = DictionaryRecordSource()
            try source.store(Book(title: title))
            #expect(try source.read("b", as: Book.self).get() == Book(title: title))
        }
    }
}
