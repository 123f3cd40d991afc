import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@Suite("Values and containers of every kind")
struct ContainerTests {
    /// A record with any value as its only field.
    struct Box<Value: FieldValue & Sendable>: NormalizedModel {
        let value: Value
        var modelIdentifier: String? { "box" }
        init(_ value: Value) { self.value = value }
        init(from decoder: inout RecordDecoder) throws {
            value = try decoder.decode(forKey: "value")
        }
        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(value, forKey: "value")
        }
    }

    func check<Value: FieldValue & Equatable & Sendable>(_ values: Value...) throws {
        for value in values {
            let source = DictionaryRecordSource()
            try source.store(Box(value))
            #expect(source.read("box", as: Box<Value>.self).map(\.value) == .success(value))
        }
    }

    enum Colour: String, FieldValue { case red, green }

    @Test("Scalars of every type are read as they were written")
    func scalars() throws {
        try check(true, false)
        try check(Int8.min, 0, .max)
        try check(UInt64.max, 0)
        try check(Int128.min, 0, .max)
        try check(UInt128.max, UInt128(UInt64.max) + 1)
        try check(Double.infinity, 0.1, -0.0, .leastNonzeroMagnitude)
        try check(Float.pi, .infinity)
        try check("", "a\0b", "🐈", String(repeating: "x", count: 70_000))
        try check(Date(timeIntervalSinceReferenceDate: 0.1), .distantFuture)
        try check(Data(), Data([0, 255]))
        try check(UUID())
        try check(Decimal(string: "12345678901234567890.12345") ?? 0, Decimal(-5), Decimal.nan)
        try check(Colour.green)
        if let base = URL(string: "https://a.b/c/"),
            let url = URL(string: "d?e=f", relativeTo: base)
        {
            try check(base, url)
        }
    }

    @Test("Nested, empty and optional containers are read as they were written")
    func containers() throws {
        try check([[Int]](), [[]], [[1], [], [2, 3]], [[Int]](repeating: [1], count: 20))
        try check([Int?](), [nil, 1, nil])
        try check([[[String]]](), [[["a"], []], []])
        try check(["a": [1: [true]]], [:])
        try check(Set(["b", "a"]), [])
        try check([Int?]?.none, [nil], [1])
        try check(["x": Int?.none, "y": 1])
        try check([1: "a", -1: "b"])
        try check(["\u{E9}": 1])
    }

    @Test("A number is read as another type where it fits")
    func conversions() throws {
        let source = DictionaryRecordSource()
        try source.store(Box(7))
        #expect(source.read("box", as: Box<Double>.self).map(\.value) == .success(7))
        #expect(source.read("box", as: Box<UInt8>.self).map(\.value) == .success(7))
        #expect(source.read("box", as: Box<Decimal>.self).map(\.value) == .success(7))
        #expect(source.read("box", as: Box<Int?>.self).map(\.value) == .success(7))
        for (result, isHit) in [
            (source.read("box", as: Box<String>.self).map { _ in }, false),
            (source.read("box", as: Box<Bool>.self).map { _ in }, false),
            (source.read("box", as: Box<[Int]>.self).map { _ in }, false),
        ] {
            #expect(((try? result.get()) != nil) == isHit)
        }
    }

    @Test("Sets of models and dictionaries with models as values are read as they were written")
    func models() throws {
        try check(Set([Leaf("a"), Leaf("b", "x")]))
        try check(["k": [Leaf("a"), Leaf("a")], "l": []])
        try check([Leaf("a"), nil])
    }

    @Test("Models as the keys of a dictionary are read as they were written")
    func modelsAsKeys() throws {
        try check([Leaf("a", "text"): 1, Leaf("b"): 2])
    }
}
