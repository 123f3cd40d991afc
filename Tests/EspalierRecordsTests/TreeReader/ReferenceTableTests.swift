import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

/// The result of a read for each state of a record and each place of a reference to it.
@Suite("References to records in every state")
struct ReferenceTableTests {
    enum Loss: CaseIterable {
        case lost, dangling, damaged, mismatching

        func apply(_ identifier: String, _ source: DictionaryRecordSource) throws {
            let handle = try #require(source.handle(of: identifier))
            switch self {
            case .lost: source.lose(identifier)
            case .dangling: source.records[handle] = nil
            case .damaged: source.records[handle]?[5] ^= 1
            case .mismatching: try source.store(Mismatch(modelIdentifier: identifier))
            }
        }

        var reason: String {
            switch self {
            case .lost: "lost"
            case .dangling: "dangling"
            case .damaged: "damaged"
            case .mismatching: "undecodable"
            }
        }
    }

    struct Mismatch: NormalizedModel {
        let modelIdentifier: String?
        init(modelIdentifier: String) { self.modelIdentifier = modelIdentifier }
        init(from decoder: inout RecordDecoder) throws { modelIdentifier = nil }
        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode("x", forKey: "id")
            try encoder.encode([1, 2], forKey: "text")
        }
    }

    func name(_ result: Result<some Any, MissReason>) -> String {
        if case .failure(let reason) = result { reason.name } else { "hit" }
    }

    @Test("A deleted record is nil in an optional field, and left out of arrays and dictionaries")
    func deletedOptional() throws {
        let source = DictionaryRecordSource()
        let a = Leaf("a", "1"), b = Leaf("b", "2")
        try source.store(Page(id: "p", optional: a, list: [a, b, a], table: ["x": a, "y": b]))
        source.delete("a")
        #expect(
            source.read("p", as: Page.self) == .success(Page(id: "p", list: [b], table: ["y": b])))
    }

    @Test(
        "A deletion climbs through required fields and inline values to a place that may be empty")
    func deletedRequired() throws {
        let source = DictionaryRecordSource()
        let a = Leaf("a"), b = Leaf("b")
        try source.store(
            Shelf(
                "s", stem: Stem("st", a), frame: Frame(a), frames: [Frame(b), Frame(a), Frame(b)],
                requiredFrame: Frame(b)))
        source.delete("a")
        #expect(
            source.read("s", as: Shelf.self)
                == .success(Shelf("s", frames: [Frame(b), Frame(b)], requiredFrame: Frame(b))))
        #expect(source.read("st", as: Stem.self) == .failure(.deleted))
    }

    @Test("A deleted record that the entry requires through an inline value deletes the entry")
    func deletedEntry() throws {
        let source = DictionaryRecordSource()
        try source.store(Shelf("s", requiredFrame: Frame(Leaf("a"))))
        source.delete("a")
        #expect(source.read("s", as: Shelf.self) == .failure(.deleted))
        #expect(source.read("a", as: Leaf.self) == .failure(.notFound))
        try source.store(Leaf("a"))
        #expect(source.read("s", as: Shelf.self) == .failure(.deleted))
    }

    @Test("A back reference is left out of optionals and containers, and a miss where required")
    func cycles() throws {
        let source = DictionaryRecordSource()
        try source.store(
            Ring(
                "a", optional: Ring("a"), list: [Ring("b"), Ring("a")],
                table: ["x": Ring("a"), "y": Ring("b")]))
        let treeReader = TreeReader(source: source)
        let ring = try source.read("a", as: Ring.self, in: treeReader).get()
        #expect(ring.optional == nil)
        #expect(ring.list.map(\.id) == ["b"])
        #expect(ring.table.mapValues(\.id) == ["y": "b"])
        #expect(treeReader.isCut)
        #expect(treeReader.onCycle.count == 3)
        try source.store(Ring("a", required: [Ring("a")]))
        #expect(source.read("a", as: RequiredRing.self) == .failure(.cyclic(path: "a.required")))
    }

    @Test("A cycle through a required field is a miss even where the model could be left out")
    func cycleInsideOptional() throws {
        let source = DictionaryRecordSource()
        try source.store(Ring("a", optional: Ring("b", required: [Ring("a")])))
        guard case .failure(.cyclic(let path)) = source.read("a", as: OptionalRequiredRing.self)
        else {
            Issue.record("no miss")
            return
        }
        #expect(path == "b.required")
    }

    @Test(
        "A lost, dangling, damaged or mismatching record is a miss in every place",
        arguments: Loss.allCases)
    func losses(loss: Loss) throws {
        let pages = [
            Page(id: "p", optional: Leaf("a")), Page(id: "p", list: [Leaf("b"), Leaf("a")]),
            Page(id: "p", table: ["x": Leaf("a")]),
        ]
        for page in pages {
            let source = DictionaryRecordSource()
            try source.store(page)
            try loss.apply("a", source)
            #expect(name(source.read("p", as: Page.self)) == loss.reason)
        }
        let shelves = [
            Shelf("s", stem: Stem("st", Leaf("a")), requiredFrame: Frame(Leaf("b"))),
            Shelf("s", frame: Frame(Leaf("a")), requiredFrame: Frame(Leaf("b"))),
            Shelf("s", requiredFrame: Frame(Leaf("a"))),
        ]
        for shelf in shelves {
            let source = DictionaryRecordSource()
            try source.store(shelf)
            try loss.apply("a", source)
            #expect(name(source.read("s", as: Shelf.self)) == loss.reason)
        }
    }

    @Test("A miss names the record and the field that stopped the read")
    func paths() throws {
        func reason(_ loss: Loss, _ page: Page) throws -> MissReason? {
            let source = DictionaryRecordSource()
            try source.store(page)
            try loss.apply("a", source)
            if case .failure(let reason) = source.read("p", as: Page.self) { return reason }
            return nil
        }
        #expect(try reason(.lost, Page(id: "p", optional: Leaf("a"))) == .lost(path: "p.optional"))
        #expect(
            try reason(.lost, Page(id: "p", list: [Leaf("b"), Leaf("a")]))
                == .lost(path: "p.list[1]"))
        #expect(
            try reason(.dangling, Page(id: "p", table: ["x": Leaf("a")]))
                == .dangling(path: "p.table.x"))
        #expect(
            try reason(.mismatching, Page(id: "p", optional: Leaf("a")))
                == .undecodable(path: "a.text", detail: "expected a String, found array"))
    }

    @Test("A lost record is refilled by the next write, and its old parents read it again")
    func refilled() throws {
        let source = DictionaryRecordSource()
        try source.store(Page(id: "p", optional: Leaf("a", "old")))
        source.lose("a")
        try source.store(Leaf("a", "new"))
        #expect(try source.read("p", as: Page.self).get().optional == Leaf("a", "new"))
    }

    @Test("An index entry that leads to another record is a miss")
    func wrongIndex() throws {
        let source = DictionaryRecordSource()
        try source.store(Leaf("a"))
        try source.store(Leaf("b"))
        source.index[Identifier("a")] = source.handle(of: "b")
        #expect(
            source.read("a", as: Leaf.self) == .failure(.notFound))
    }

    @Test("An initialiser that swallows a failure gets no hit after loss, and may after a mismatch")
    func swallowed() throws {
        for loss in Loss.allCases {
            let source = DictionaryRecordSource()
            try source.store(Page(id: "p", optional: Leaf("a")))
            try loss.apply("a", source)
            #expect(
                name(source.read("p", as: Lenient.self))
                    == (loss == .mismatching ? "hit" : loss.reason))
        }
    }

    struct Lenient: NormalizedModel {
        let leaf: Leaf?
        init(from decoder: inout RecordDecoder) throws {
            leaf = (try? decoder.decode(Leaf.self, forKey: "optional")) ?? nil
            _ = try decoder.decode(String.self, forKey: "id")
        }
        func encode(to encoder: inout RecordEncoder) throws {}
    }
}
