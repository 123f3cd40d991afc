import EspalierModels
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Writes that contradict themselves")
struct ContradictionTests {
    private static let first = Card("p:1", name: "Ada", badge: nil)
    private static let other = Card("p:1", name: "Eve", badge: nil)

    @Test("Under .replace the ticket and the statistics count each other content of a node")
    func counts() throws {
        try withCache { cache in
            let cards = [Self.first, Self.other, Self.first, Card("p:2", name: "Bo", badge: 1)]
            let ticket = cache.set(cards)
            try ticket.wait()
            #expect(ticket.contradictions == 1)
            #expect(cache.read(Card.self, "p:1") == Self.first)
            let collection = cache.setCollection([Self.first, Self.other, Self.other], forKey: "c")
            try collection.wait()
            #expect(collection.contradictions == 2)
            let nested = cache.setModel(
                Box("b:1", [Box("b:2", Self.first), Box("b:3", Self.other)]), forKey: "k")
            try nested.wait()
            #expect(nested.contradictions == 1)
            #expect(try cache.statistics().contradictions == 4)
        }
    }

    @Test("Nil against a value is a contradiction, and so is another child")
    func kinds() throws {
        try withCache { cache in
            let poor = cache.set([Self.first, Card("p:1", name: nil, badge: nil)])
            try poor.wait()
            #expect(poor.contradictions == 1)
            let boxes = cache.set([
                Box("b", Self.first), Box("b", Card("p:3", name: "x", badge: 1)),
            ])
            try boxes.wait()
            #expect(boxes.contradictions == 1)
            #expect(cache.read(Card.self, "p:3") == nil)
        }
    }

    @Test("A node below an occurrence that counts for nothing is compared too")
    func below() throws {
        try withCache { cache in
            let ticket = cache.set([Box("b", Self.first), Box("b", Self.other)])
            try ticket.wait()
            #expect(ticket.contradictions == 1)
        }
    }

    @Test("A node inside of itself is compared once it is complete")
    func inside() throws {
        try withCache { cache in
            let poor = cache.set(Crate("a", "full", [Crate("b", "", [Crate("a", "poor")])]))
            try poor.wait()
            #expect(poor.contradictions == 1)
            #expect(cache.read(Crate.self, "a")?.label == "full")
            let deeper = Crate("a", "x", [Crate("b", "", [Crate("a", "x", [Crate("b", "y")])])])
            let ticket = cache.set(deeper)
            try ticket.wait()
            // The inner "a" is equal to the outer one. The inner "b" is not.
            #expect(ticket.contradictions == 1)
        }
    }

    @Test("A write that merges, fails or waits has none")
    func none() throws {
        try withCache { cache in
            let merging = cache.set([Self.first, Self.other], policy: .merge)
            try merging.wait()
            #expect(merging.contradictions == 0)
            let failing = cache.set([Card("", name: "x", badge: nil)])
            #expect(throws: CacheError.self) { try failing.wait() }
            #expect(failing.contradictions == 0)
            #expect(try cache.statistics().contradictions == 0)
        }
    }

    @Test("The statistics keep the number when the cache is closed, and count transactions")
    func lasts() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        try cache.transaction { try $0.set([Self.first, Self.other]) }
        cache.close()
        let reopened = try scratch.open()
        #expect(try reopened.statistics().contradictions == 1)
        try reopened.set([Self.first, Self.other, Self.other]).wait()
        #expect(try reopened.statistics().contradictions == 3)
        reopened.close()
    }

    @Test("Values with exponentially many occurrences are written in linear time")
    func bounded() throws {
        try withCache { cache in
            var crate = Crate("level:0", "")
            for level in 1..<40 { crate = Crate("level:\(level)", "", [crate, crate]) }
            let ticket = cache.set(crate)
            try ticket.wait()
            #expect(ticket.contradictions == 0)
        }
    }
}

/// A node that may contain others of its type.
private struct Crate: Codable, NormalizedModel {
    let id: String
    let label: String
    let contents: [Crate]
    var modelIdentifier: String? { id }

    init(_ id: String, _ label: String, _ contents: [Crate] = []) {
        (self.id, self.label, self.contents) = (id, label, contents)
    }
}
