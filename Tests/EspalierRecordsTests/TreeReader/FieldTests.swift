import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Fields found by name")
struct FieldTests {
    /// A model with any fields, encoded in their order and decoded in the order of `asked`.
    struct Fields: NormalizedModel {
        let entries: [(String, Int?)]
        let modelIdentifier: String?

        init(_ id: String?, _ entries: [(String, Int?)]) {
            (modelIdentifier, self.entries) = (id, entries)
        }
        init(from decoder: inout RecordDecoder) throws { throw MissReason.notFound }

        func encode(to encoder: inout RecordEncoder) throws {
            for (name, value) in entries {
                if let value {
                    try encoder.encode(value, forKey: name)
                } else {
                    encoder.encodeAbsent(forKey: name)
                }
            }
        }
    }

    func read<Value>(
        _ fields: [(String, Int?)], _ body: (inout RecordDecoder) throws -> Value
    ) throws -> Result<Value, MissReason> {
        let source = DictionaryRecordSource()
        try source.store(Fields("f", fields))
        let treeReader = TreeReader(source: source)
        let handle = try #require(source.handle(of: "f"))
        return treeReader.read("f") {
            try treeReader.entry(handle, identifier: "f") { try $0.decodeModel(Value.self, body) }
        }
    }

    static let names = ["a", "b", "c", "d"]

    @Test("Fields are found in whatever order they are asked for")
    func everyOrder() throws {
        try withEveryChoice { choices in
            var left = Self.names
            var order: [String] = []
            while !left.isEmpty { order.append(left.remove(at: choices.choose(left.count))) }
            let values = try read(Self.names.enumerated().map { ($1, $0) }) { decoder in
                try order.map { try decoder.decode(Int.self, forKey: $0) }
            }
            #expect(values == .success(order.map { Self.names.firstIndex(of: $0) ?? -1 }))
        }
    }

    @Test("Every subset of known and unknown fields is found in every order, twice")
    func everySubset() throws {
        try withEveryChoice { choices in
            let stored = Self.names.prefix(3).filter { _ in choices.chooseBool() }
            let asked = (0..<3).map { _ in Self.names[choices.choose(4)] }
            let values = try read(stored.map { ($0, $0.hashValue) }) { decoder in
                try asked.map { name in
                    let isThere = try decoder.contains(name)
                    let value = try decoder.decode(Int?.self, forKey: name)
                    #expect(isThere == (value != nil))
                    return value
                }
            }
            #expect(values == .success(asked.map { stored.contains($0) ? $0.hashValue : nil }))
        }
    }

    @Test("A missing or absent field is nil if optional, and otherwise a miss that names it")
    func missing() throws {
        let missing = MissReason.undecodable(
            path: "f.b", detail: "the record lacks this required field")
        #expect(try read([("a", 1)]) { try $0.decode(Int.self, forKey: "b") } == .failure(missing))
        #expect(try read([("a", 1)]) { try $0.decode(Int?.self, forKey: "b") } == .success(nil))
        #expect(
            try read([("b", nil)]) { try $0.decode(Int.self, forKey: "b") } == .failure(missing))
        #expect(try read([("b", nil)]) { try $0.decode(Int?.self, forKey: "b") } == .success(nil))
        #expect(try read([("b", nil)]) { try $0.contains("b") } == .success(false))
        #expect(try read([]) { try $0.decode(Int?.self, forKey: "b") } == .success(nil))
    }

    @Test("A field that failed may be asked for again, and the fields after it are still found")
    func retry() throws {
        let values = try read([("a", 300), ("b", 2), ("c", 3)]) { decoder -> [Int?] in
            let small = try? decoder.decode(Int8.self, forKey: "a")
            let text = try? decoder.decode(String.self, forKey: "a")
            return [
                small.map(Int.init), text.map(\.count), try decoder.decode(Int.self, forKey: "b"),
                try decoder.decode(Int.self, forKey: "a"),
                try decoder.decode(Int.self, forKey: "c"),
            ]
        }
        #expect(values == .success([nil, nil, 2, 300, 3]))
    }

    @Test("A decoder lists the fields of its record, and those of an inline model")
    func names() throws {
        #expect(
            try read(Self.names.map { ($0, 1) }) { try $0.fieldNames() } == .success(Self.names))
        let source = DictionaryRecordSource()
        try source.store(Holder(Fields(nil, [("x", 1), ("y", nil)])))
        #expect(source.read("holder", as: NamesOfHeld.self).map(\.names) == .success(["x", "y"]))
    }

    @Test("The fields of an inline model are found in every order, missing and absent ones too")
    func inline() throws {
        try withEveryChoice { choices in
            let stored = Self.names.prefix(3).map {
                ($0, choices.chooseBool() ? $0.hashValue : nil)
            }
            let asked = (0..<3).map { _ in Self.names[choices.choose(4)] }
            let source = DictionaryRecordSource()
            try source.store(Holder(Fields(nil, stored)))
            let treeReader = TreeReader(source: source)
            let handle = try #require(source.handle(of: "holder"))
            let result = treeReader.read("holder") {
                try treeReader.decodeModel(at: handle, as: [Int?].self) { decoder in
                    guard try decoder.seek("held") else { throw MissReason.notFound }
                    let values = try decoder.values.decodeModel([Int?].self) { inner in
                        try asked.map { try inner.decode(Int?.self, forKey: $0) }
                    }
                    // The field after the inline model is found wherever its decoding stopped.
                    let next = try decoder.values.decodeString()
                    #expect(next == "after")
                    return values
                }
            }
            #expect(result == .success(asked.map { name in stored.first { $0.0 == name }?.1 }))
        }
    }

    struct Holder: NormalizedModel {
        let held: Fields
        var modelIdentifier: String? { "holder" }
        init(_ held: Fields) { self.held = held }
        init(from decoder: inout RecordDecoder) throws { throw MissReason.notFound }
        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(held, forKey: "held")
            try encoder.encode("after", forKey: "after")
        }
    }

    struct NamesOfHeld: NormalizedModel {
        let names: [String]
        init(from decoder: inout RecordDecoder) throws {
            guard try decoder.seek("held") else { throw MissReason.notFound }
            names = try decoder.values.decodeModel([String].self) { try $0.fieldNames() }
        }
        func encode(to encoder: inout RecordEncoder) throws {}
    }
}
