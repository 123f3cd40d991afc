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

    @Test("The models that come back have the pending changes")
    func pendingChange() async throws {
        try await withCache { cache in
            let change = cache.optimistically { $0.set(User(id: 7, name: "edited", city: "Rome")) }
            try await change.applied.committed
            let user = try await cache.ingest(
                Data(#"{"id": 7, "name": "Ada", "city": "Paris"}"#.utf8), as: User.self)
            #expect(user == User(id: 7, name: "edited", city: "Rome"))
            #expect(await cache.read(User.self, "User:7") == user)
        }
    }

    @Test("Whether the cache has to be read or not, the models are what a read gives")
    func returnsWhatIsStored() async throws {
        let documents = [
            // The same again, with a changed field, poorer, and twice in one document.
            #"[{"id": 1, "text": "a", "user": {"id": 7, "name": "Ada", "city": "Paris"}}]"#,
            #"[{"id": 1, "text": "a", "user": {"id": 7, "name": "Ada", "city": "Paris"}}]"#,
            #"[{"id": 1, "text": "b", "user": {"id": 7, "name": "Eve", "city": "Paris"}}]"#,
            #"[{"id": 1, "text": "c", "user": {"id": 7}}]"#,
            #"[{"id": 1, "user": {"id": 8, "name": "Bob", "city": "Rome"}}]"#,
            #"""
            [{"id": 2, "text": "d", "user": {"id": 9, "name": "Carl"}},
             {"id": 3, "text": "e", "user": {"id": 9, "city": "Bonn"}},
             {"id": 4, "text": "f", "user": {"id": 9, "name": "Dora"}}]
            """#,
        ]
        try await withCache { cache in
            for document in documents {
                let models = try await cache.ingest(Data(document.utf8), as: [Status].self)
                for model in models {
                    let stored: Status? = await cache.read(Status.self, "Status:\(model.id)")
                    #expect(model == stored)
                }
            }
            let user: User? = await cache.read(User.self, "User:9")
            #expect(user == User(id: 9, name: "Carl", city: "Bonn"))
        }
    }

    @Test(
        "A document that does not fit names the place, and stores nothing",
        arguments: [
            (#"[{"id": 1, "user": {"id": 1}}, {"id": 2, "user": {"id": "x"}}]"#, "$[1].user.id"),
            (#"[{"id": 1}]"#, "$[0].user"),
            (#"[{"id": 1, "user": null}]"#, "$[0].user"),
            // Foundation's decoder does not say where these are.
            (#"[{"id": 99999999999999999999, "user": {"id": 1}}]"#, "$[0].id"),
            (#"[{"id": 3, "user": {"id": 1}}, {"id": 1, "user": {"id": 1e300}}]"#, "$[1].user.id"),
            (#"[{"id": 3, "user": {"id": 1.5}}, {"id": 1.5, "user": {"id": 1}}]"#, "$[0].user.id"),
            (#"[{"id": 1, "user": {"id": 1}"#, "$[0].user"),
            (#"[{"id": 1, "user": {"id": 1}},"#, "$[1]"),
            (#"[{"id": 1, "text": "a"#, "$[0].text"),
            (#"[{"id": 1, "text": tru}]"#, "$[0].text"),
            (#"[{"id": 1 "text": "a"}]"#, "$[0].id"),
            (#"[{"id": 1, "user": {"id": 1}}] []"#, "$"),
            // Foundation's decoder takes one of them.
            (#"[{"id": 1, "user": {"id": 1, "city": "a", "id": 2}}]"#, "$[0].user.id"),
            (#"[{"id": 1, "more": [{"a": 1, "\u0061": 2}], "user": {"id": 1}}]"#, "$[0].more[0].a"),
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

    @Test("A field that occurs twice is found among many, and the same name elsewhere is no other")
    func duplicates() {
        let names = (0..<100).map { #""n\#($0)": {"n0": \#($0), "n1": [1, "n"]}"# }
        let document = "[{\(names.joined(separator: ", "))}, {\(names[3])}]"
        #expect(JSONScan.duplicate(in: Data(document.utf8)) == nil)
        // Foundation takes these for one key.
        let alike = "\"\u{E9}\": 1, \"e\u{301}\": 2"
        #expect(JSONScan.duplicate(in: Data("{\(alike)}".utf8)) != nil)
        let many = "[{\(names.joined(separator: ", ")), \(alike)}]"
        #expect(JSONScan.duplicate(in: Data(many.utf8)) != nil)
        for name in [0, 31, 32, 33, 99] {
            let twice = "[{\(names.joined(separator: ", ")), \(names[name])}]"
            #expect(JSONScan.duplicate(in: Data(twice.utf8))?.path == "$[0].n\(name)")
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
            do {
                try await cache.ingest(bytes, as: [Status].self)
                Issue.record("it was stored")
            } catch let error as IngestError {
                #expect(error.path == "$[0].text")
            }
            await #expect(throws: CacheError.self) {
                try await cache.ingest(Data(#"[{"text": "a"}]"#.utf8), as: [Nameless].self)
            }
            let nodes = try cache.statistics().nodes
            #expect(nodes == 0)
        }
    }
}
