import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Equal trees make equal bytes")
struct DeterminismTests {
    @Test("Sets and dictionaries of models make equal bytes in whatever order they were filled")
    func unordered() throws {
        let names = (0..<40).map { "leaf \($0)" }
        var forms: Set<[[UInt8]]> = []
        for _ in 0..<20 {
            let order = names.shuffled()
            var table: [String: Leaf] = Dictionary(minimumCapacity: Int.random(in: 40...400))
            var set: Set<Leaf> = Set(minimumCapacity: Int.random(in: 40...400))
            for name in order {
                table["key " + name] = Leaf(name)
                set.insert(Leaf(name))
            }
            let tree = try DictionaryRecordSource.flatten(Bag(leaves: set, table: table))
            forms.insert(
                tree.nodes.flatMap { node in
                    node.projections.map { Array(node.identifier.utf8) + $0.values }
                })
        }
        #expect(forms.count == 1)
    }

    @Test("A flattener that is used again makes the same bytes")
    func reuse() throws {
        let flattener = Flattener()
        for _ in 0..<3 {
            let value = try flattener.value { try Leaf("a", "x").encodeValue(into: $0) }
            #expect(value.children == [0])
            let tree = flattener.finish()
            #expect(tree.nodes.map(\.identifier) == ["a"])
            #expect(
                tree.byteCount == (try DictionaryRecordSource.flatten(Leaf("a", "x"))).byteCount)
        }
    }

    @Test("Models of one type with different fields have different shapes")
    func varyingFields() throws {
        let models = [["a"], ["a", "b"], ["a"], ["b", "a"], [], ["a", "b"], ["a", "b", "c"]].map {
            Varying(fields: $0)
        }
        let list = try Flattener().value { encoder in
            try encoder.encodeArray(count: models.count) {
                for model in models { try model.encodeValue(into: encoder) }
            }
        }
        #expect(list.children.count == 5)
        let flattener = Flattener()
        for model in models { _ = try flattener.value { try model.encodeValue(into: $0) } }
        for node in flattener.finish().nodes {
            #expect(
                node.projections[0].shape.fields.map(\.name).joined(separator: ",")
                    == node.identifier.dropFirst(2))
        }
    }

    private struct Bag: NormalizedModel {
        let leaves: Set<Leaf>
        let table: [String: Leaf]
        var modelIdentifier: String? { "bag" }

        init(leaves: Set<Leaf>, table: [String: Leaf]) {
            (self.leaves, self.table) = (leaves, table)
        }

        init(from decoder: inout RecordDecoder) throws {
            leaves = try decoder.decode(forKey: "leaves")
            table = try decoder.decode(forKey: "table")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(leaves, forKey: "leaves")
            try encoder.encode(table, forKey: "table")
        }
    }

    private struct Varying: NormalizedModel {
        let fields: [String]
        var modelIdentifier: String? { "v:" + fields.joined(separator: ",") }
        init(fields: [String]) { self.fields = fields }
        init(from decoder: inout RecordDecoder) throws { fields = try decoder.fieldNames() }
        func encode(to encoder: inout RecordEncoder) throws {
            for field in fields { try encoder.encode(1, forKey: field) }
        }
    }
}
