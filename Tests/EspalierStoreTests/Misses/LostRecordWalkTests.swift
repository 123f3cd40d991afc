import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("Random damage and repair")
struct LostRecordWalkTests {
    /// Random writes, deletions, pins and damage in a cache of nodes that refer to one another at
    /// random, also in cycles. Compares the text of each node with the text that was written last.
    private struct Walk {
        let cache: NormalizedCache
        var random: SeededGenerator
        /// The text of each node that is neither deleted nor lost.
        var texts: [String: String] = [:]

        private var name: String { mutating get { "n:\(Int.random(in: 0..<24, using: &random))" } }

        private mutating func knot(_ depth: Int = 0) -> Knot {
            let count = depth < 3 ? Int.random(in: 0...3, using: &random) : 0
            var links: [Knot] = []
            for _ in 0..<count { links.append(knot(depth + 1)) }
            return Knot(
                name, text: "\(UInt16.random(in: .min ... .max, using: &random))", links: links)
        }

        private mutating func record(_ knot: Knot, _ seen: inout Set<String>) {
            // The first version of a node in the tree is stored. The children of the other
            // versions are not.
            guard seen.insert(knot.id).inserted else { return }
            texts[knot.id] = knot.text
            for link in knot.links { record(link, &seen) }
        }

        mutating func step() throws {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let knot = knot()
                var seen: Set<String> = []
                record(knot, &seen)
                try cache.set(knot).wait()
            case 4:
                let name = name
                try cache.delete(name).wait()
                texts[name] = nil
            case 5:
                let knots = [knot(), knot()]
                var seen: Set<String> = []
                for knot in knots { record(knot, &seen) }
                try cache.setCollection(knots, forKey: "c").wait()
            case 6: _ = try? cache.pin(name).wait()
            case 7: try cache.unpin(name).wait()
            default: try damageSome()
            }
        }

        private mutating func damageSome() throws {
            var handles: [Handle] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let name = name
                guard texts[name] != nil, let handle = try cache.handle(name),
                    !handles.contains(handle)
                else {
                    continue
                }
                try cache.damage(handle)
                #expect(cache.readOutcome(Knot.self, name).reason?.name == "damaged")
                handles.append(handle)
                texts[name] = nil
            }
            try cache.set(Person("p:\(random.next() % 4)", "somebody")).wait()
            for handle in handles { #expect(try cache.state(handle).flags.contains(.lost)) }
        }

        func check() throws {
            try expectClean(cache)
            for number in 0..<24 {
                let name = "n:\(number)"
                switch (cache.readOutcome(Knot.self, name, access: .peek), texts[name]) {
                case (.hit(let hit), let text): #expect(hit.value.text == text)
                case (.miss(.lost(let path)), let text): #expect(text == nil || path != name)
                case (.miss(.notFound), nil): break
                case (.miss(let reason), let text):
                    Issue.record("\(name), \(text ?? "gone"): \(reason)")
                }
            }
        }
    }

    @Test(
        "Random writes, deletions, pins and damage leave consistent reference counts",
        arguments: 1...12)
    func walk(seed: UInt64) throws {
        try withCache { cache in
            var walk = Walk(cache: cache, random: SeededGenerator(seed: seed))
            for _ in 0..<40 {
                try walk.step()
                try walk.check()
            }
        }
    }

    @Test("Lost roots are evicted in their turn, also from a cache full of them")
    func evicting() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            let names = (0..<60).map { "old:\($0)" }
            for name in names {
                try cache.set(Message(name, from: Person("p:\(name)", "n"))).wait()
            }
            for name in names {
                try cache.damage(name)
                #expect(cache.read(Message.self, name) == nil)
            }
            while try names.contains(where: { try !cache.state($0).flags.contains(.lost) }) {
                try cache.set(Person("p:other", "n")).wait()
            }
            try expectClean(cache)
            try cache.overfill(budgets: 2)
            try expectClean(cache)
            for name in names {
                #expect(cache.readOutcome(Message.self, name, access: .peek).reason == .notFound)
            }
        }
    }
}
