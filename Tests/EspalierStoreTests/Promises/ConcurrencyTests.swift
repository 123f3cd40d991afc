import Dispatch
import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Many threads at once")
struct ConcurrencyTests {
    @Test("A read returns a tree of one commit, never a mixture")
    func wholeTrees() throws {
        try withCache { cache in
            let rounds = 120
            try cache.set(Self.feed(version: 0)).wait()
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                guard thread > 0 else {
                    for version in 1...rounds { cache.set(Self.feed(version: version)) }
                    return
                }
                var last = 0
                while last < rounds {
                    let consistency = thread == 1 ? Consistency.latest : .snapshot
                    guard let read = cache.read(Feed.self, "f:1", consistency: consistency) else {
                        Issue.record("a miss")
                        return
                    }
                    let names = Set(
                        read.messages.map(\.sender.name) + read.people.values.map(\.name))
                    #expect(names.count == 1, "a mixture of \(names)")
                    let version = names.first.flatMap(Int.init) ?? 0
                    #expect(version >= last, "went back in time")
                    last = version
                }
            }
        }
    }

    private static func feed(version: Int) -> Feed {
        let people = (0..<12).map { Person("p:\($0)", "\(version)") }
        let messages = people.map { Message("m:\($0.id)", from: $0, to: people[0]) }
        return Feed(
            "f:1", messages: messages,
            people: Dictionary(uniqueKeysWithValues: people.map { ($0.id, $0) }))
    }

    @Test("Eight threads that write, read, edit and delete leave a clean cache")
    func hammer() throws {
        try withCache { cache in
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                var random = SeededGenerator(quietly: UInt64(thread))
                for _ in 0..<150 { Self.act(on: cache, &random) }
            }
            try cache.removeAll().wait()
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                var random = SeededGenerator(quietly: UInt64(thread + 8))
                for _ in 0..<100 { Self.act(on: cache, &random) }
            }
        }
    }

    private static func act(on cache: NormalizedCache, _ random: inout SeededGenerator) {
        let number = Int.random(in: 0..<30, using: &random)
        let person = Person("p:\(number)", "\(Int.random(in: 0..<5, using: &random))")
        switch Int.random(in: 0..<11, using: &random) {
        case 0:
            cache.set(Message("m:\(number % 7)", from: person, to: Person("p:\(number / 2)", "0")))
        case 1: cache.set(Card("p:\(number)", name: nil, badge: number), policy: .merge)
        case 2: cache.delete("p:\(number)")
        case 3: cache.append([person, person], toCollection: "c")
        case 4: cache.remove(at: number, fromCollection: "c")
        case 5: cache.setModel(person, forKey: "k:\(number % 3)")
        case 6: _ = cache.read(Message.self, "m:\(number % 7)", consistency: .snapshot)
        case 7: _ = cache.collection(of: Person.self, forKey: "c", consistency: .snapshot)
        case 8: _ = cache.read(Message.self, "m:\(number % 7)")
        case 9:
            _ = cache.set(
                Feed("f:\(number % 3)", messages: [Message("m:\(number % 7)", from: person)]))
        default: cache.set(person)
        }
    }

    @Test("Every call succeeds while another thread removes everything")
    func removingAll() throws {
        try withCache { cache in
            let isDone = Atomic(false)
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                switch thread {
                case 0:
                    for _ in 0..<60 { _ = code(cache.removeAll()) }
                    isDone.store(true, ordering: .releasing)
                case 1:
                    while !isDone.load(ordering: .acquiring) {
                        #expect(throws: Never.self) { try cache.statistics() }
                        #expect(throws: Never.self) { try cache.verify() }
                    }
                case 2:
                    while !isDone.load(ordering: .acquiring) {
                        let reason = cache.readOutcome(Person.self, "p:1", consistency: .snapshot)
                            .reason
                        #expect(reason == nil || reason == .notFound)
                    }
                default:
                    while !isDone.load(ordering: .acquiring) {
                        #expect(code(cache.set(Person("p:1", "Anna"))) == nil)
                    }
                }
            }
        }
    }

    @Test("A read goes on although its generation is replaced again and again before its turn")
    func replacedGenerations() throws {
        try withCache { cache in
            let generations = cache.engine.generations
            var attempts = 0
            let records = try generations.withCurrent { generation in
                attempts += 1
                if attempts < 6 { _ = try generations.replace(because: .emptied) }
                return try generation.environment.read {
                    try $0.counters(generation.keyspaces).nodes
                }
            }
            #expect(attempts == 6)
            #expect(records == 0)
        }
    }

    @Test("Reads miss and writes fail as closed while another thread closes the cache")
    func closing() throws {
        for _ in 0..<10 {
            try withCache { cache in
                DispatchQueue.concurrentPerform(iterations: 4) { thread in
                    if thread == 0 {
                        Thread.sleep(forTimeInterval: 0.01)
                        return cache.close()
                    }
                    while !cache.isClosed {
                        let failure = code(cache.set(Person("p:\(thread)", "Anna")))
                        #expect(failure == nil || failure == .closed)
                        let reason = cache.readOutcome(Person.self, "p:\(thread)").reason
                        #expect(
                            reason == nil || reason == .notFound || reason?.name == "unavailable")
                    }
                }
            }
        }
    }
}
