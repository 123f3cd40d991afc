import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("The groups of the index")
struct IndexGroupsTests {
    /// An index in an otherwise empty cache, and what should be in it.
    private final class Model {
        let cache: NormalizedCache
        let generation: Generation
        private(set) var handles: [[UInt8]: Handle] = [:]
        private var names: [Handle: [UInt8]] = [:]
        private var next: UInt64 = 1

        init(_ cache: NormalizedCache) throws {
            self.cache = cache
            generation = try cache.generation
        }

        /// Removes and adds names in one transaction, in two steps.
        func change(removing removed: [[UInt8]], adding added: [[UInt8]]) throws {
            let removals = removed.sorted { $0.precedes($1) }.compactMap { name in
                handles.removeValue(forKey: name).map { IndexChange(key: name, handle: $0) }
            }
            for removal in removals { names[removal.handle] = nil }
            let additions = added.sorted { $0.precedes($1) }.map { name in
                next += 3
                return IndexChange(key: name, handle: Handle(next))
            }
            for addition in additions {
                handles[addition.key] = addition.handle
                names[addition.handle] = addition.key
            }
            try cache.tamper { transaction, keyspaces in
                var groups = IndexGroups(
                    keyspaces.index, limit: generation.environment.maximumValueSize)
                let doubtful = try groups.apply(
                    removals: removals, additions: additions, in: &transaction
                ) { handle, _ in names[handle] }
                #expect(doubtful.isEmpty)
                // A transaction sees its own changes.
                for change in additions.prefix(20) {
                    let found = try groups.search(change.key, in: transaction.snapshot) { _ in
                        Issue.record("a damaged group")
                    }
                    #expect(found?.handle == change.handle)
                }
            }
        }

        /// Checks the order of the groups, and that every name is found and no other.
        func check(absent: [[UInt8]]) throws {
            var last: (key: [UInt8], list: IndexEntryList)?
            var count = 0
            try cache.readStorage { transaction, keyspaces in
                try transaction.forEach(in: keyspaces.index) { key, value in
                    let bytes = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
                    let list = try IndexGroup(lentKey: key, value: value).entries()
                    #expect(!list.isEmpty)
                    if let last { #expect(last.list.isInOrder(from: last.key, to: bytes)) }
                    last = (bytes, list)
                    count += list.entries.count
                    for entry in list.entries {
                        let name = names[entry.handle]
                        #expect(name.map { list.compare(entry, with: $0) } == .match)
                    }
                    return true
                }
                if let last { #expect(last.list.isInOrder(from: last.key, to: nil)) }
                #expect(count == handles.count)
                var groups = IndexGroups(keyspaces.index, limit: 4_080)
                let snapshot = transaction.snapshot
                for (name, handle) in handles {
                    let match = try groups.search(name, in: snapshot) { _ in }
                    #expect(match?.handle == handle)
                }
                for name in absent where handles[name] == nil {
                    guard let match = try groups.search(name, in: snapshot, damaged: { _ in })
                    else { continue }
                    #expect(!match.isWhole && names[match.handle] != name)
                }
            }
        }

        /// The bytes of file that each name takes, and the share of groups that is filled.
        func density() throws -> (bytes: Double, fill: Double) {
            try cache.readStorage { transaction, keyspaces in
                let statistics = try transaction.statistics(of: keyspaces.index)
                let pageSize = generation.environment.pageSize
                var bytes = 0
                try transaction.forEach(in: keyspaces.index) { _, value in
                    bytes += value.byteCount
                    return true
                }
                return (
                    Double(statistics.pages * pageSize) / Double(handles.count),
                    Double(bytes) / Double(statistics.entries * (pageSize - 16))
                )
            }
        }
    }

    private func withModel(_ body: (Model) throws -> Void) throws {
        try withCache(isDamaged: true) { try body(Model($0)) }
    }

    private static func randomName(_ random: inout SeededGenerator) -> [UInt8] {
        let number = Int.random(in: 0..<3_000, using: &random)
        return switch Int.random(in: 0..<5, using: &random) {
        case 0: IndexKey.bytes(.node, "Post:\(500_000_000 + number)")
        case 1: IndexKey.bytes(.node, "Person:\(number)")
        case 2: IndexKey.bytes(.key, String(repeating: "\u{0}", count: number % 500))
        case 3: IndexKey.bytes(.collection, String(repeating: "x", count: number % 700 + 1))
        default:
            IndexKey.bytes(
                .node,
                (0..<number % 6 + 1).map { _ in Bool.random(using: &random) ? "a" : "b" }
                    .joined())
        }
    }

    @Test("Random additions and removals leave exactly the names of an oracle", arguments: 0..<4)
    func walk(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try withModel { model in
            for step in 0..<60 {
                let count = Int.random(in: 0...(step % 7 == 0 ? 600 : 12), using: &random)
                let removed = (0..<count).compactMap { _ in
                    model.handles.keys.randomElement(using: &random)
                }
                let gone = Set(removed)
                let added = Set((0..<count + 6).map { _ in Self.randomName(&random) })
                    .filter { model.handles[$0] == nil || gone.contains($0) }
                try model.change(removing: Array(gone), adding: Array(added))
                guard step % 4 == 3 else { continue }
                try model.check(absent: (0..<50).map { _ in Self.randomName(&random) })
            }
            try model.change(removing: Array(model.handles.keys), adding: [])
            try model.check(absent: [])
            #expect(
                try model.cache.readStorage { try $0.statistics(of: $1.index).entries } == 0)
        }
    }

    /// The names of a feed of 100 posts with people out of 2,000.
    private static func feed(_ number: Int, _ random: inout SeededGenerator) -> Set<[UInt8]> {
        var names: Set<[UInt8]> = [IndexKey.bytes(.node, "Feed:\(number)")]
        for post in 0..<100 {
            let post = 500_000_000 + number * 137 + post
            names.insert(IndexKey.bytes(.node, "Post:\(post)"))
            for comment in 0..<2 {
                names.insert(IndexKey.bytes(.node, "Comment:\(5_000_001_230 + post * 2 + comment)"))
            }
            for _ in 0..<3 {
                let person = 1_000_000 + Int.random(in: 0..<2_000, using: &random) * 7
                names.insert(IndexKey.bytes(.node, "Person:\(person)"))
            }
        }
        return names
    }

    @Test("The names of feeds take 7 bytes of file each, also after a third was replaced")
    func feeds() throws {
        try withModel { model in
            var random = SeededGenerator(seed: 5)
            var feeds: [Set<[UInt8]>] = []
            for number in 0..<60 {
                let feed = Self.feed(number, &random)
                feeds.append(feed)
                try model.change(removing: [], adding: feed.filter { model.handles[$0] == nil })
            }
            let fresh = try model.density()
            for number in 60..<80 {
                let old = feeds.removeFirst()
                let kept = feeds.reduce(into: Set<[UInt8]>()) { $0.formUnion($1) }
                let feed = Self.feed(number, &random)
                feeds.append(feed)
                try model.change(
                    removing: old.filter { !kept.contains($0) && model.handles[$0] != nil },
                    adding: feed.filter { model.handles[$0] == nil })
            }
            try model.check(absent: [])
            let churned = try model.density()
            print("feeds: \(model.handles.count) names, fresh \(fresh), churned \(churned)")
            #expect(fresh.bytes < 7 && churned.bytes < 7.5)
            #expect(fresh.fill > 0.85 && churned.fill > 0.8)
        }
    }

    @Test("UUIDs take 13 bytes of file each")
    func uuids() throws {
        try withModel { model in
            var random = SeededGenerator(seed: 9)
            func uuid() -> [UInt8] {
                let digits = (0..<32).map { _ in
                    String(Int.random(in: 0..<16, using: &random), radix: 16, uppercase: true)
                }
                let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { digits[$0].joined() }
                return IndexKey.bytes(.node, "Post:" + parts.joined(separator: "-"))
            }
            for _ in 0..<60 {
                try model.change(removing: [], adding: (0..<300).map { _ in uuid() })
            }
            let fresh = try model.density()
            for _ in 0..<20 {
                let names = model.handles.keys.shuffled(using: &random).prefix(300)
                try model.change(removing: Array(names), adding: (0..<300).map { _ in uuid() })
            }
            try model.check(absent: (0..<200).map { _ in uuid() })
            let churned = try model.density()
            print("UUIDs: \(model.handles.count) names, fresh \(fresh), churned \(churned)")
            #expect(fresh.bytes < 13 && churned.bytes < 13)
        }
    }
}
