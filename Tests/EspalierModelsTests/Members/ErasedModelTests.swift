import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

/// Erased models in every position.
struct Board: Pinnable, NormalizedModel {
    var id = 1
    var required: any Pinnable = Pin(1)
    var optional: (any Pinnable)?
    var list: [any Pinnable] = []
    var table: [String: any Pinnable] = [:]
    var modelIdentifier: String? { "Board:\(id)" }

    init(_ id: Int = 1) { self.id = id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        required = try decoder.decode(ErasedModel<any Pinnable>.self, forKey: "required").model
        optional = try decoder.decode(ErasedModel<any Pinnable>?.self, forKey: "optional")?.model
        list = try decoder.decode([ErasedModel<any Pinnable>].self, forKey: "list").map(\.model)
        table = try decoder.decode([String: ErasedModel<any Pinnable>].self, forKey: "table")
            .mapValues(\.model)
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(ErasedModel(required), forKey: "required")
        try encoder.encode(optional.map { ErasedModel($0) }, forKey: "optional")
        try encoder.encode(list.map { ErasedModel($0) }, forKey: "list")
        try encoder.encode(table.mapValues { ErasedModel($0) }, forKey: "table")
    }

    func isEqual(to model: any Model) -> Bool { false }
    func map(_ transform: (any Model) -> (any Model)?) -> Board? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

/// One erased model of any existential.
struct Erased<Existential: Sendable>: NormalizedModel {
    let held: ErasedModel<Existential>
    var modelIdentifier: String? { "Erased" }
    init(_ model: Existential) { held = ErasedModel(model) }
    init(from decoder: inout RecordDecoder) throws { held = try decoder.decode(forKey: "held") }
    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(held, forKey: "held") }
}

/// A field of any value in the place of an erased model.
struct Forged<Value: FieldValue & Sendable>: NormalizedModel {
    let held: Value
    var modelIdentifier: String? { "Erased" }
    init(_ held: Value) { self.held = held }
    init(from decoder: inout RecordDecoder) throws { held = try decoder.decode(forKey: "held") }
    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(held, forKey: "held") }
}

private struct Hidden: Pinnable, NormalizedModel, Codable, Equatable {
    func map(_ transform: (any Model) -> (any Model)?) -> Hidden? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

extension Result where Failure == MissReason {
    fileprivate var miss: MissReason? {
        if case .failure(let reason) = self { reason } else { nil }
    }
}

@Suite("A model behind a protocol is stored with the name of its type")
struct ErasedModelTests {
    let source = DictionaryRecordSource()

    func read(_ id: Int = 1) -> Result<Board, MissReason> {
        source.read("Board:\(id)", as: Board.self)
    }

    func erased(_ models: [any Pinnable]) -> [ErasedModel<any Pinnable>] {
        models.map { ErasedModel($0) }
    }
    func erased(_ models: [String: any Pinnable]) -> [String: ErasedModel<any Pinnable>] {
        models.mapValues { ErasedModel($0) }
    }

    @Test("Erased models of several types are read back from every position")
    func roundTrip() throws {
        var board = Board()
        board.optional = Framed(Pin(2, "b"))
        board.list = [CodablePin(note: "x"), Pin(3), Framed(Framed(Pin(4)))]
        board.table = ["a": Pin(1), "b": CodablePin()]
        try source.store(board)
        let read = try read().get()
        #expect(read.required as? Pin == Pin(1))
        #expect(read.optional as? Framed<Pin> == Framed(Pin(2, "b")))
        #expect(erased(read.list) == erased(board.list))
        #expect(erased(read.table) == erased(board.table))
        #expect(source.index.count == 8, "each model with an identifier has a record of its own")
    }

    @Test("Any existential of models can be erased")
    func existentials() throws {
        try source.store(Erased<any Model>(Pin(1)))
        #expect(
            try source.read("Erased", as: Erased<any Model>.self).get().held.model as? Pin == Pin(1)
        )
        #expect(
            try source.read("Erased", as: Erased<any SimpleModel>.self).get().held.model as? Pin
                == Pin(1))
        #expect(
            try source.read("Erased", as: Erased<any NormalizedModel>.self).get().held.model as? Pin
                == Pin(1))
        #expect(
            try source.read("Erased", as: Erased<any Pinnable & Hashable>.self).get().held.model
                as? Pin == Pin(1))
        #expect(try source.read("Erased", as: Erased<Pin>.self).get().held.model == Pin(1))
    }

    @Test("An erased model shares its record with other uses of the model")
    func shared() throws {
        try source.store(Erased<any Model>(Pin(1, "a")))
        try source.store(Pin(1, "b"))
        #expect(try source.read("Pin:1", as: Pin.self).get() == Pin(1, "b"))
        #expect(
            try source.read("Erased", as: Erased<any Model>.self).get().held.model as? Pin
                == Pin(1, "b"))
    }

    @Test("A deleted erased child becomes nil, or leaves its list or dictionary")
    func deleted() throws {
        var board = Board()
        board.optional = Pin(2)
        board.list = [Pin(2), Pin(3), Pin(2)]
        board.table = ["a": Pin(2), "b": Pin(3)]
        try source.store(board)
        source.delete("Pin:2")
        let read = try read().get()
        #expect(read.optional == nil)
        #expect(erased(read.list) == erased([Pin(3)]))
        #expect(erased(read.table) == erased(["b": Pin(3)]))
        #expect(read.required as? Pin == Pin(1), "what stands behind it is read where it stands")
    }

    @Test("A deleted required child deletes its parents, up to the nearest optional place")
    func deletionClimbs() throws {
        var board = Board(1)
        board.required = Pin(7)
        var outer = Board(2)
        outer.optional = board
        outer.list = [Framed(Pin(7)), Pin(8)]
        try source.store(outer)
        source.delete("Pin:7")
        #expect(read(1).miss == .deleted)
        let read = try read(2).get()
        #expect(read.optional == nil)
        #expect(erased(read.list) == erased([Pin(8)]))
    }

    @Test("A cycle is cut at an optional place, and is a miss if it is required")
    func cycles() throws {
        var inner = Board(2)
        inner.list = [Board(1), Pin(1)]
        var outer = Board(1)
        outer.optional = inner
        try source.store(outer)
        let read = try #require(try read(1).get().optional as? Board)
        #expect(erased(read.list) == erased([Pin(1)]))
        var circle = Board(3)
        circle.required = Board(3)
        try source.store(circle)
        #expect(self.read(3).miss == .cyclic(path: "Board:3.required"))
    }

    @Test("A name that is not the name of a type is a miss that reports the name and the path")
    func unknownName() throws {
        for name in [
            "5MyApp6PersonV", "", "Pin", "Si", "\u{1}\u{2}\u{3}\u{4}\u{5}",
            String(repeating: "Say", count: 5_000),
        ] {
            try source.store(Forged([name, name]))
            let miss = MissReason.undecodable(
                path: "Erased.held", detail: "no model has the type name \(name)")
            #expect(source.read("Erased", as: Erased<any Model>.self).miss == miss)
        }
    }

    @Test("A type that does not match the existential is a miss that reports the type")
    func otherExistential() throws {
        try source.store(Erased<any NormalizedModel>(CodablePlace(id: 1, name: "Rome")))
        let miss = MissReason.undecodable(
            path: "Erased.held", detail: "CodablePlace is not Pinnable")
        #expect(source.read("Erased", as: Erased<any Pinnable>.self).miss == miss)
    }

    @Test("A value that is not an array of a name and a model is a miss")
    func malformed() throws {
        func path<Value: FieldValue & Sendable>(_ value: Value) throws -> String? {
            try source.store(Forged(value))
            guard
                case .failure(.undecodable(let path, _)) = source.read(
                    "Erased", as: Erased<any Model>.self)
            else { return nil }
            return path
        }
        #expect(try path(1) == "Erased.held")
        #expect(try path(Pin(1)) == "Erased.held")
        #expect(try path([String]()) == "Erased.held")
        #expect(try path(["a"]) == "Erased.held")
        #expect(try path([1, 2]) == "Erased.held")
        #expect(try path(["a", "b", "c"]) == "Erased.held")
        let name = try #require(_mangledTypeName(Pin.self))
        #expect(try path([name, "b"]) == "Erased.held")
    }

    @Test("A mismatch inside an erased model is reported with its path")
    func mismatch() throws {
        let source = DictionaryRecordSource()
        var board = Board()
        board.list = [Pin(2), Framed(Pin(3))]
        try source.store(board)
        source.lose("Pin:3")
        #expect(
            source.read("Board:1", as: Board.self).miss == .lost(path: "Framed<Pin>:Pin:3.content"))
    }

    @Test("A private or local type fails the write, and so does one that cannot be stored")
    func unstorable() throws {
        struct Local: Pinnable, NormalizedModel, Codable, Equatable {
            func map(_ transform: (any Model) -> (any Model)?) -> Local? { self }
            func forEach(_ visit: (any Model) -> Void) {}
        }
        func type(_ model: any Pinnable) -> String? {
            var board = Board()
            board.required = model
            do {
                try source.store(board)
                return nil
            } catch FlattenError.modelFailed(let type, _) {
                return type
            } catch {
                return "\(error)"
            }
        }
        #expect(type(Hidden()) == "Hidden")
        #expect(type(Hidden()) == "Hidden", "remembered")
        #expect(type(Local()) == "Local")
        #expect(type(Pin(1)) == nil)
        #expect(throws: FlattenError.notStorable(type: "Opaque")) {
            try source.store(Erased<any Model>(Opaque(1)))
        }
        #expect(throws: FlattenError.notStorable(type: "Int")) {
            try source.store(Erased<any Hashable & Sendable>(1))
        }
    }

    @Test("The erased model is the child, which any model of the existential can replace")
    func mapping() {
        let erased = ErasedModel<any Pinnable>(Pin(1))
        #expect(
            ModelMembers.map(erased) { _ in CodablePin() }
                == ErasedModel<any Pinnable>(CodablePin()))
        #expect(ModelMembers.map(erased) { _ in Opaque(1) } == nil)
        #expect(ModelMembers.map(erased) { _ in nil } == nil)
        #expect(ModelMembers.map([erased, erased]) { _ in nil } == [])
        #expect(ModelMembers.map(Optional(erased)) { _ in nil } == .some(nil))
        var visited = 0
        ModelMembers.forEach(["a": [erased]]) { _ in visited += 1 }
        #expect(visited == 1)
        let simple = ErasedModel<any SimpleModel>(SmallestSimpleModel())
        #expect(ModelMembers.map(simple) { _ in nil } == simple, "no Model, no child")
        ModelMembers.forEach(simple) { _ in visited += 1 }
        #expect(visited == 1)
    }
}
