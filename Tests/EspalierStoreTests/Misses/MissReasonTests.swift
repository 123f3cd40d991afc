import EspalierLMDB
import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Reasons of misses at every level")
struct MissReasonTests {
    /// The position of the record `p:1` in the tree that is read.
    enum Level: CaseIterable {
        case root, child, element, dictionary, inline, deep, key, inlineUnderKey, collection

        var path: String {
            switch self {
            case .root: "p:1"
            case .child: "m:1.sender"
            case .element: "h:1.people[1]"
            case .dictionary: "f:1.people.x"
            case .inline: "f:2.cover.subject"
            case .deep: "m:1.sender"
            case .key: "k"
            case .inlineUnderKey: "i.subject"
            case .collection: "c[1]"
            }
        }

        func reason(in cache: NormalizedCache) -> MissReason? {
            switch self {
            case .root: cache.readOutcome(Person.self, "p:1", access: .peek).reason
            case .child: cache.readOutcome(Message.self, "m:1", access: .peek).reason
            case .element: cache.readOutcome(Hall.self, "h:1", access: .peek).reason
            case .dictionary: cache.readOutcome(Feed.self, "f:1", access: .peek).reason
            case .inline: cache.readOutcome(Feed.self, "f:2", access: .peek).reason
            case .deep: cache.readOutcome(Feed.self, "f:3", access: .peek).reason
            case .key: cache.modelOutcome(Person.self, forKey: "k", access: .peek).reason
            case .inlineUnderKey: cache.modelOutcome(Cover.self, forKey: "i", access: .peek).reason
            case .collection:
                cache.collectionOutcome(of: Person.self, forKey: "c", access: .peek).reason
            }
        }
    }

    private static let anna = Person("p:1", "Anna")
    private static let ben = Person("p:2", "Ben")

    private func fill(_ cache: NormalizedCache) throws {
        cache.set(Message("m:1", from: Self.anna))
        cache.set(Hall("h:1", people: [Self.ben, Self.anna]))
        cache.set(Feed("f:1", people: ["x": Self.anna]))
        cache.set(Feed("f:2", cover: Cover("c", of: Self.anna)))
        cache.set(Feed("f:3", pinned: Message("m:1", from: Self.anna)))
        cache.setModel(Self.anna, forKey: "k")
        cache.setModel(Cover("c", of: Self.anna), forKey: "i")
        try cache.setCollection([Self.ben, Self.anna], forKey: "c").wait()
        for level in Level.allCases { #expect(level.reason(in: cache) == nil, "\(level)") }
    }

    @Test(
        "Every fault is a miss with its reason and path, at every level", arguments: Fault.allCases)
    func faults(fault: Fault) throws {
        try withCache(isDamaged: true) { cache in
            try fill(cache)
            try cache.forge(fault)
            for level in Level.allCases {
                #expect(level.reason(in: cache) == fault.reason(at: level.path), "\(level)")
            }
        }
    }

    @Test(
        "The next write of the identifier repairs every fault, at every level",
        arguments: Fault.allCases)
    func repaired(fault: Fault) throws {
        try withCache(isDamaged: true) { cache in
            try fill(cache)
            try cache.forge(fault)
            try cache.set(Self.anna).wait()
            for level in Level.allCases { #expect(level.reason(in: cache) == nil, "\(level)") }
        }
    }

    @Test(
        """
        An unknown enum case is a miss as root, child, element, inline, under a key and in a \
        collection
        """)
    func unknownCase() throws {
        try withCache { cache in
            let detail = "a value that is no case of Mood"
            cache.set(Box("b:1", "sleepy"))
            #expect(
                cache.readOutcome(Box<Mood>.self, "b:1").reason
                    == .undecodable(path: "b:1.value", detail: detail))
            cache.set(Box("b:2", [Box("b:1", "sleepy")]))
            #expect(
                cache.readOutcome(Box<[Box<Mood>]>.self, "b:2").reason
                    == .undecodable(path: "b:1.value", detail: detail))
            cache.set(Box("b:3", ["glad", "sleepy"]))
            #expect(
                cache.readOutcome(Box<[Mood]>.self, "b:3").reason
                    == .undecodable(path: "b:3.value[1]", detail: detail))
            cache.set(Box("b:4", Remark("sleepy")))
            #expect(
                cache.readOutcome(Box<MoodyRemark>.self, "b:4").reason
                    == .undecodable(path: "b:4.value.text", detail: detail))
            cache.setModel(Remark("sleepy"), forKey: "k")
            #expect(
                cache.modelOutcome(MoodyRemark.self, forKey: "k").reason
                    == .undecodable(path: "k.text", detail: detail)
            )
            cache.setCollection([Remark("glad"), Remark("sleepy")], forKey: "c")
            #expect(
                cache.collectionOutcome(of: MoodyRemark.self, forKey: "c").reason
                    == .undecodable(path: "c[1].text", detail: detail))
        }
    }

    @Test("Damaged records of keys, collections and segments are misses with their path")
    func entries() throws {
        try withCache(isDamaged: true) { cache in
            try fill(cache)
            let detail = "the check does not match"
            try cache.damage("k", in: .key)
            #expect(Level.key.reason(in: cache) == .damaged(path: "k", detail: detail))
            let collection = try #require(try cache.handle("c", in: .collection))
            try cache.damage(try #require(try cache.record(collection)?.children.first))
            #expect(Level.collection.reason(in: cache) == .damaged(path: "c", detail: detail))
            try cache.damage("c", in: .collection)
            #expect(Level.collection.reason(in: cache) == .damaged(path: "c", detail: detail))
        }
    }

    @Test("An index entry with an invalid, wrong or missing target is a miss")
    func index() throws {
        try withCache(isDamaged: true) { cache in
            try fill(cache)
            let other = try #require(try cache.handle("p:2"))
            try cache.tamperIndex { $0.set("p:1", to: other) }
            #expect(Level.root.reason(in: cache) == .notFound)
            try cache.tamperIndex { $0.set("p:1", to: Handle(1 << 40)) }
            #expect(Level.root.reason(in: cache) == .dangling(path: "p:1"))
            #expect(Level.child.reason(in: cache) == nil)
            try cache.tamperIndex {
                $0.remove("p:1")
                $0.damageGroup(of: "p:1")
            }
            #expect(
                Level.root.reason(in: cache)
                    == .damaged(path: "p:1", detail: "its part of the index is damaged"))
        }
    }

    @Test(
        "An initialiser that tolerates a missing field can't hide damage",
        arguments: Fault.allCases)
    func lenient(fault: Fault) throws {
        try withCache(isDamaged: true) { cache in
            try fill(cache)
            try cache.forge(fault)
            let isHit = [.mismatch, .missingField].contains(fault)
            for reason in [
                cache.readOutcome(Lenient.self, "m:1", access: .peek).reason,
                cache.readOutcome(LenientCodable.self, "m:1", access: .peek).reason,
            ] {
                #expect((reason == nil) == isHit, "\(String(describing: reason))")
            }
            // Read alone, with the tolerated field inside of the faulty record.
            #expect((cache.readOutcome(Nickname.self, "p:1", access: .peek).reason == nil) == isHit)
            #expect(
                (cache.readOutcome(NicknameCodable.self, "p:1", access: .peek).reason == nil)
                    == isHit)
        }
    }
}
