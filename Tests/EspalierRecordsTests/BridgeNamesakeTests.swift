import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Values that say what a field is called")
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

    @Test("are not taken for names", arguments: ["name", "title", "text", "other"])
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
