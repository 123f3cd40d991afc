import EspalierModels
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Ingesting documents")
struct IngestTests {
    struct User: Codable, NormalizedModel, Hashable {
        var id: Int
        var name: String?
        var city: String?
        var modelIdentifier: String? { "User:\(id)" }
    }

    struct Status: Codable, NormalizedModel, Hashable {
        var id: Int
        var text: String?
        var user: User
        var modelIdentifier: String? { "Status:\(id)" }
    }

    @Test("A document is merged into what is known, and the merged models come back in its order")
    func merges() async throws {
        try await withCache { cache in
            try cache.set(Status(id: 1, text: "old", user: User(id: 7, city: "Paris"))).wait()
            let document = """
                [{"id": 2, "text": "second", "user": {"id": 7, "name": "Ada"}},
                 {"id": 1, "user": {"id": 7}}]
                """
            let models = try await cache.ingest(Data(document.utf8), as: [Status].self)
            let user = User(id: 7, name: "Ada", city: "Paris")
            let expected = [
                Status(id: 2, text: "second", user: user), Status(id: 1, text: "old", user: user),
            ]
            #expect(models == expected)
            #expect(await cache.read(Status.self, "Status:1") == expected[1])
            let one = try await cache.ingest(
                Data(#"{"id": 7, "name": "Grace"}"#.utf8), as: User.self)
            #expect(one == User(id: 7, name: "Grace", city: "Paris"))
            let none = try await cache.ingest(Data("[]".utf8), as: [User].self)
            #expect(none.isEmpty)
        }
    }

    @Test(
        "A document that does not fit names the place, and stores nothing",
        arguments: [
            (#"[{"id": 1, "user": {"id": 1}}, {"id": 2, "user": {"id": "x"}}]"#, "$[1].user.id"),
            (#"[{"id": 1}]"#, "$[0].user"),
            (#"[{"id": 1, "user": null}]"#, "$[0].user"),
            // Foundation's decoder does not say where the number is that has no room.
            (#"[{"id": 99999999999999999999, "user": {"id": 1}}]"#, "$"),
            (#"[{"id": 1, "user": {"id": 1}"#, "$"),
            (#"{"id": 1}"#, "$"),
            ("", "$"),
        ])
    func refuses(document: String, path: String) async throws {
        try await withCache { cache in
            do {
                try await cache.ingest(Data(document.utf8), as: [Status].self)
                Issue.record("it was stored")
            } catch let error as IngestError {
                #expect(error.path == path)
                #expect(!error.reason.isEmpty)
            }
            let nodes = try cache.statistics().nodes
            #expect(nodes == 0)
        }
    }

    @Test("Bytes that are no text, and a model without identifier, store nothing")
    func noText() async throws {
        struct Nameless: Codable, NormalizedModel {
            var text: String
            var modelIdentifier: String? { nil }
        }
        try await withCache { cache in
            let bytes = Data(#"[{"id": 1, "text": ""#.utf8) + [0xFF, 0xFE] + Data(#""}]"#.utf8)
            await #expect(throws: IngestError.self) {
                try await cache.ingest(bytes, as: [Status].self)
            }
            await #expect(throws: CacheError.self) {
                try await cache.ingest(Data(#"[{"text": "a"}]"#.utf8), as: [Nameless].self)
            }
            let nodes = try cache.statistics().nodes
            #expect(nodes == 0)
        }
    }
}
