import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("A model behind a protocol is stored with the name of its type")
struct ErasedModelTests {
    /// Erased models in every position.
    struct Board: NormalizedModel {
        var required: any Pinnable = Pin(1)
        var optional: (any Pinnable)?
        var list: [any Pinnable] = []
        var table: [String: any Pinnable] = [:]
        var modelIdentifier: String? { "Board" }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            required = try decoder.decode(ErasedModel<any Pinnable>.self, forKey: "required").model
            optional = try decoder.decode(ErasedModel<any Pinnable>?.self, forKey: "optional")?.model
            list = try decoder.decode([ErasedModel<any Pinnable>].self, forKey: "list").map(\.model)
            table = try decoder.decode([String: ErasedModel<any Pinnable>].self, forKey: "table").mapValues(\.model)
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(ErasedModel(required), forKey: "required")
            try encoder.encode(optional.map { ErasedModel($0) }, forKey: "optional")
            try encoder.encode(list.map { ErasedModel($0) }, forKey: "list")
            try encoder.encode(table.mapValues { ErasedModel($0) }, forKey: "table")
        }
    }

    func read(_ source: DictionaryRecordSource) -> Result<Board, MissReason> { source.read("Board", as: Board.self) }

    @Test("models of several types come back from every position")
    func roundTrip() throws {
        var board = Board()
        board.optional = Framed(Pin(2, "b"))
        board.list = [CodablePin(note: "x"), Pin(3), Framed(Framed(Pin(4)))]
        board.table = ["a": Pin(1), "b": CodablePin()]
        let source = DictionaryRecordSource()
        try source.store(board)
        let read = try read(source).get()
        #expect(read.required as? Pin == Pin(1))
        #expect(read.optional as? Framed<Pin> == Framed(Pin(2, "b")))
        #expect(read.list.map { ErasedModel($0) } == board.list.map { ErasedModel($0) })
        #expect(read.table.mapValues { ErasedModel($0) } == board.table.mapValues { ErasedModel($0) })
    }
}
