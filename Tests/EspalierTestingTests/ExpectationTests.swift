import Espalier
import EspalierTesting
import Foundation
import Testing

private struct Person: Codable, NormalizedModel, Equatable {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

@Suite("Helpers for the tests of apps")
struct ExpectationTests {
    private func cache() throws -> NormalizedCache {
        try NormalizedCache.holding(
            [Person].self, json: #"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bob"}]"#,
            asCollection: "all")
    }

    @Test("A fixture holds the models of a JSON array, and a collection of them")
    func fixture() async throws {
        let cache = try cache()
        defer { cache.close() }
        let ada = expectHit(await cache.readOutcome(Person.self, "Person:1"))
        #expect(ada == Person(id: 1, name: "Ada"))
        #expect(await cache.collection(of: Person.self, forKey: "all")?.count == 2)
        expectMiss(await cache.readOutcome(Person.self, "Person:3"))
        expectMiss(await cache.readOutcome(Person.self, "Person:3"), because: "notFound")
    }

    @Test("An expectation that does not hold records an issue at its line")
    func issues() async throws {
        let cache = try cache()
        defer { cache.close() }
        let (hit, miss) = (
            await cache.readOutcome(Person.self, "Person:1"),
            await cache.readOutcome(Person.self, "Person:3")
        )
        let lineOfCall = #line + 2
        withKnownIssue {
            expectMiss(hit)
        } matching: {
            $0.sourceLocation?.line == lineOfCall
        }
        withKnownIssue {
            expectMiss(miss, because: "deleted")
        } matching: {
            $0.description.contains("notFound")
        }
        withKnownIssue {
            expectHit(miss)
        } matching: {
            $0.description.contains("not found")
        }
    }

    @Test("A clock that the test sets dates the writes of a cache")
    func clock() async throws {
        let clock = ManualClock()
        let cache = try NormalizedCache(inMemory: Configuration(clock: clock.wallClock))
        defer { cache.close() }
        try await cache.set(Person(id: 1, name: "Ada")).committed
        clock.advance(by: .seconds(90))
        guard case .hit(let hit) = await cache.readOutcome(Person.self, "Person:1") else {
            return #expect(Bool(false))
        }
        #expect(hit.age == .seconds(90) && hit.writtenAt == clock.now - 90)
    }

    @Test("A fixture that does not fit its type is an error")
    func badFixture() {
        #expect(throws: DecodingError.self) {
            try NormalizedCache.holding([Person].self, json: #"[{"id": 1}]"#)
        }
    }
}
