import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

/// Models that break the rules of `expect`: their lists are not the fields that they encode or ask
/// for.
@Suite("Wrong lists of expected fields")
struct WrongListTests {
    /// Leaves a nil field out, though its list names it.
    private struct Sparse: NormalizedModel, Equatable {
        var id: String
        var name: String?
        var town: String
        var rest: [Sparse] = []
        var modelIdentifier: String? { id }

        init(_ id: String, _ name: String?, _ town: String, rest: [Sparse] = []) {
            (self.id, self.name, self.town, self.rest) = (id, name, town, rest)
        }

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            name = try decoder.decode(forKey: "name")
            town = try decoder.decode(forKey: "town")
            rest = try decoder.decode(forKey: "rest", default: [])
        }

        func encode(to encoder: inout RecordEncoder) throws {
            encoder.expect(Sparse.self, fields: ["id", "name", "town"])
            try encoder.encode(id, forKey: "id")
            if let name { try encoder.encode(name, forKey: "name") }
            try encoder.encode(town, forKey: "town")
            if !rest.isEmpty { try encoder.encode(rest, forKey: "rest") }
        }
    }

    @Test("An encoder whose model leaves a listed field out stores each value under its own name")
    func leftOut() throws {
        let source = DictionaryRecordSource()
        let nodes = [
            Sparse("a", "Ann", "Aix"), Sparse("b", nil, "Bonn"), Sparse("c", "Cem", "Cork"),
            Sparse("d", nil, "Dover"), Sparse("e", nil, "Ely"),
        ]
        let top = Sparse("top", nil, "Troy", rest: nodes)
        for _ in 0..<2 {
            try source.store(top)
            #expect(source.read("top", as: Sparse.self) == .success(top))
        }
    }

    /// Encodes and asks for its fields in an order of each value's own, whatever its list says.
    private struct Shuffled: NormalizedModel, Equatable {
        private static let names = ["id", "first field with a long name", "second", "third"]
        var id: String
        var values: [String]
        var rest: [Shuffled] = []
        var modelIdentifier: String? { id }

        init(_ id: String, rest: [Shuffled] = []) {
            self.id = id
            self.rest = rest
            values = Self.names.dropFirst().map { "\($0) of \(id)" }
        }

        /// The positions of the fields, turned by the length of the identifier.
        private static func order(_ id: String) -> [Int] {
            [[1, 2, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]][id.utf8.count % 4]
        }

        init(from decoder: inout RecordDecoder) throws {
            decoder.expect(Shuffled.self, fields: Self.names + ["rest"])
            id = try decoder.decode(forKey: "id")
            values = ["", "", ""]
            // In the reverse of the order in which the fields were encoded.
            for position in Self.order(id).reversed() {
                values[position - 1] = try decoder.decode(forKey: Self.names[position])
            }
            rest = try decoder.decode(forKey: "rest")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            encoder.expect(Shuffled.self, fields: Self.names + ["rest"])
            try encoder.encode(id, forKey: "id")
            for position in Self.order(id) {
                try encoder.encode(values[position - 1], forKey: Self.names[position])
            }
            try encoder.encode(rest, forKey: "rest")
        }
    }

    @Test("A model whose fields come in another order each time swaps no values")
    func shuffled() throws {
        let source = DictionaryRecordSource()
        let nodes = ["a", "bb", "ccc", "dddd", "e", "ffff", "gg", "hhhh", "iiii", "jjj"]
        let top = Shuffled("four", rest: nodes.map { Shuffled($0) })
        for _ in 0..<3 {
            try source.store(top)
            #expect(source.read("four", as: Shuffled.self) == .success(top))
        }
    }

    /// Lists the fields of `Sparse` and asks for the second before the first.
    private struct Crossed: NormalizedModel {
        let name: String
        let town: String
        var modelIdentifier: String? { "a" }
        var projectionIdentifier: String { "Sparse" }

        init(from decoder: inout RecordDecoder) throws {
            decoder.expect(Crossed.self, fields: ["id", "name", "town"])
            _ = try decoder.decode(String.self, forKey: "id")
            town = try decoder.decode(forKey: "town")
            name = try decoder.decode(forKey: "name")
        }

        func encode(to encoder: inout RecordEncoder) throws {}
    }

    @Test("A decoder that asks for listed fields in another order gets each field's own value")
    func crossed() throws {
        let source = DictionaryRecordSource()
        try source.store(Sparse("a", "Ann", "Aix"))
        for _ in 0..<3 {
            let read = try source.read("a", as: Crossed.self).get()
            #expect(read.name == "Ann")
            #expect(read.town == "Aix")
        }
    }

    /// Skips a field that its list names, and that the record lacks.
    private struct Skipping: NormalizedModel {
        let town: String
        var modelIdentifier: String? { "b" }
        var projectionIdentifier: String { "Sparse" }

        init(from decoder: inout RecordDecoder) throws {
            decoder.expect(Skipping.self, fields: ["id", "name", "nickname", "town"])
            _ = try decoder.decode(String.self, forKey: "id")
            _ = try decoder.decode(String?.self, forKey: "name")
            town = try decoder.decode(forKey: "town")
        }

        func encode(to encoder: inout RecordEncoder) throws {}
    }

    @Test("A decoder that skips a listed field that the record lacks finds the fields after it")
    func skipped() throws {
        let source = DictionaryRecordSource()
        try source.store(Sparse("b", "Bea", "Bonn"))
        for _ in 0..<3 {
            #expect(try source.read("b", as: Skipping.self).get().town == "Bonn")
        }
    }
}
