import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("A group of the index")
struct IndexGroupTests {
    private static let limit = 4_080

    private func search(
        _ name: [UInt8], under key: [UInt8], _ bytes: [UInt8]
    ) throws -> IndexGroup.Match? {
        try IndexGroup.reading(key, bytes) { group throws(FormatError) in try group.search(name) }
    }

    private func entries(under key: [UInt8], _ bytes: [UInt8]) throws -> IndexEntryList {
        try IndexGroup.reading(key, bytes) { group throws(FormatError) in try group.entries() }
    }

    /// Names of every kind: dense numbers, hashes, beginnings of others, zeros, long ones.
    private static func names(_ count: Int, _ random: inout SeededGenerator) -> [[UInt8]] {
        var names: Set<[UInt8]> = []
        while names.count < count {
            let number = UInt64.random(in: 0..<UInt64(count) * 2, using: &random)
            let name: [UInt8]
            switch UInt64.random(in: 0..<6, using: &random) {
            case 0: name = IndexKey.bytes(.node, "Post:\(500_000_000 + number)")
            case 1: name = IndexKey.bytes(.node, "Person:\(number)")
            case 2: name = [UInt8](repeating: 0, count: Int(number % 40))
            case 3:
                name = (0..<Int(number % 5) + 1).map { _ in UInt8.random(in: 0...2, using: &random)
                }
            case 4:
                name = [UInt8](repeating: 7, count: 300 + Int(number % 200)) + [UInt8(number % 9)]
            default:
                name = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            if !name.isEmpty { names.insert(name) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }

    @Test("Every name that was packed is found, and what is found for another is its beginning")
    func packed() throws {
        var random = SeededGenerator(seed: 7)
        for count in [1, 2, 15, 16, 17, 33, 600, 5_000] {
            let names = Self.names(count, &random)
            let changes = names.enumerated().map {
                IndexChange(
                    key: $1, handle: Handle(UInt64.random(in: 1..<1 << 40, using: &random)),
                    mayBeCut: $0 % 7 != 0)
            }
            var writer = IndexGroupWriter()
            var groups: [(key: [UInt8], bytes: [UInt8])] = []
            writer.pack(changes, limit: Self.limit) { groups.append(($0, $1)) }
            #expect(groups.allSatisfy { $0.bytes.count <= Self.limit || count == 1 })
            var position = 0
            for (number, group) in groups.enumerated() {
                let list = try entries(under: group.key, group.bytes)
                let next = number + 1 < groups.count ? groups[number + 1].key : nil
                #expect(list.isInOrder(from: group.key, to: next))
                for entry in list.entries {
                    let change = changes[position]
                    position += 1
                    #expect(entry.handle == change.handle)
                    #expect(change.key.starts(with: list.key(entry)))
                    #expect(!entry.isWhole || list.key(entry).elementsEqual(change.key))
                    #expect(change.mayBeCut || entry.isWhole)
                    let match = try search(change.key, under: group.key, group.bytes)
                    #expect(
                        match == IndexGroup.Match(handle: change.handle, isWhole: entry.isWhole))
                }
                for name in Self.names(50, &random) {
                    let expected = list.entries.first { list.compare($0, with: name) == .match }
                    let match = try search(name, under: group.key, group.bytes)
                    if !name.lexicographicallyPrecedes(group.key) {
                        #expect(match?.handle == expected?.handle)
                    }
                }
            }
            #expect(position == count)
        }
    }

    @Test("A group under another key, cut short, or with a flipped bit is found damaged")
    func damage() throws {
        var random = SeededGenerator(seed: 11)
        let names = Self.names(200, &random)
        var writer = IndexGroupWriter()
        var bytes: [UInt8] = []
        writer.pack(
            names.enumerated().map { IndexChange(key: $1, handle: Handle(UInt64($0 + 1))) },
            limit: 60_000
        ) {
            #expect($0 == IndexGroup.lowestKey)
            bytes = $1
        }
        #expect(throws: FormatError.checkFailed) { try entries(under: [1], bytes) }
        for _ in 0..<2_000 {
            var damaged = bytes
            let bit = Int.random(in: 0..<bytes.count * 8, using: &random)
            damaged[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: FormatError.self) {
                try entries(under: IndexGroup.lowestKey, damaged)
            }
            // A search in damaged bytes may find anything, but ends.
            let name = try #require(names.randomElement(using: &random))
            _ = try? search(name, under: IndexGroup.lowestKey, damaged)
        }
        for count in [0, 1, 8, 9, bytes.count / 2, bytes.count - 1] {
            #expect(throws: FormatError.self) {
                try entries(under: IndexGroup.lowestKey, Array(bytes.prefix(count)))
            }
        }
    }

    @Test("A number without bounds anywhere in a group is damage, and ends nothing")
    func unbounded() throws {
        let names = (0..<40).map { IndexKey.bytes(.node, "Person:\($0)") }
            .sorted { $0.lexicographicallyPrecedes($1) }
        var writer = IndexGroupWriter()
        var bytes: [UInt8] = []
        writer.pack(
            names.enumerated().map { IndexChange(key: $1, handle: Handle(UInt64($0 + 1))) },
            limit: Self.limit
        ) { bytes = $1 }
        let number = [UInt8](repeating: 0xFF, count: 9) + [1]
        for head in [UInt8(0xF0), 0xF7, 0x07] {
            for position in 0..<bytes.count - number.count {
                var damaged = bytes
                damaged.replaceSubrange(position..<position + 11, with: [head] + number)
                for name in [names[0], names[20], names[39]] {
                    _ = try? search(name, under: IndexGroup.lowestKey, damaged)
                }
                #expect(throws: FormatError.self) {
                    try entries(under: IndexGroup.lowestKey, damaged)
                }
            }
        }
    }

    @Test("A new name that begins like a stored one makes both longer, and neither is mistaken")
    func lengthened() throws {
        let old = [UInt8]("Feed:1000".utf8)
        var list = IndexEntryList()
        list.append(name: old, mayBeCut: true, Handle(1))
        list.cut(from: [0], to: nil)
        #expect(list.key(list.entries[0]).elementsEqual("Fe".utf8))
        for (number, text) in ["Feed:10", "Feed:100", "Feed:10000", "Feed:2"].enumerated() {
            let change = IndexChange(key: [UInt8](text.utf8), handle: Handle(UInt64(number + 2)))
            let names = [old] + ["Feed:10", "Feed:100", "Feed:10000"].map { [UInt8]($0.utf8) }
            let doubtful = list.apply(removals: [], additions: [change]) {
                names[Int($0.rawValue) - 1]
            }
            #expect(doubtful.isEmpty)
            list.cut(from: [0], to: nil)
            #expect(list.isInOrder(from: [0], to: nil))
        }
        for (text, handle) in [
            ("Feed:1000", 1), ("Feed:10", 2), ("Feed:100", 3), ("Feed:10000", 4), ("Feed:2", 5),
        ] {
            let matches = list.entries.filter {
                list.compare($0, with: [UInt8](text.utf8)) == .match
            }
            #expect(matches.map(\.handle) == [Handle(UInt64(handle))])
        }
    }

    @Test("An entry whose record can't be read goes when another name begins like it")
    func doubtful() throws {
        var list = IndexEntryList()
        list.append(name: [5, 6, 7, 8, 9, 10], mayBeCut: true, Handle(1))
        list.append(name: [9, 9, 9], mayBeCut: false, Handle(2))
        list.cut(from: [0], to: nil)
        let doubtful = list.apply(
            removals: [],
            additions: [
                IndexChange(key: [5, 6, 7], handle: Handle(3)),
                IndexChange(key: [9, 9, 9], handle: Handle(4)),
            ]
        ) { _ in nil }
        #expect(doubtful == [Handle(1)])
        #expect(list.entries.map(\.handle) == [Handle(3), Handle(4)])
    }
}
