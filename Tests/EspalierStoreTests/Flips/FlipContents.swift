import EspalierLMDB
import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation

@testable import EspalierStore

/// A cache that contains every form of every stored entry.
struct FlipContents {
    static let configuration = Configuration(budget: .mebibytes(8), durability: .noSync)

    private(set) var probes: [Probe] = []
    private var random = SeededGenerator(quietly: 11)

    /// Creates a cache in `scratch` and closes it.
    init(writtenTo scratch: Scratch, scale: Int = 10) throws {
        var raw = Self.configuration
        raw.compression = .none
        var cache = try scratch.open(raw)
        writeTrees(cache, scale)
        writeOddities(cache)
        try cache.setCollection([Person("c:1", "Ada"), Person("c:2", "Ben")], forKey: "twin").wait()
        probes += [.node(Person.self, "c:1"), .node(Person.self, "c:2")]
        try writeTwins(cache)
        cache.close()

        cache = try scratch.open(Self.configuration)
        try cache.compact().wait()
        try forgetCurrentDictionaries(cache)
        for number in 0..<2 * scale {
            let text = (0..<12).map { "z\(number)-\($0 % 3) stands alone and repeats itself" }
                .joined(separator: "; ")
            cache.set(Person("z:\(number)", text))
            probes.append(.node(Person.self, "z:\(number)"))
        }
        for number in 0..<scale {
            cache.set(Person("s:\(number)", "s"))
            probes.append(.node(Person.self, "s:\(number)"))
        }
        try loseAndDelete(cache, scale)
        cache.pin("f:0")
        try cache.pinCollection(forKey: "all").wait()
        cache.close()
    }

    private func person(_ number: Int) -> Person {
        Person(
            "p:\(number)",
            "Person number \(number) of the house on the hill, "
                + "room \(number * 7 % 31), since \(1900 + number)"
        )
    }

    private func message(_ number: Int, _ people: Int) -> Message {
        Message("m:\(number)", from: person(number % people), to: person((number * 7 + 1) % people))
    }

    private mutating func writeTrees(_ cache: NormalizedCache, _ scale: Int) {
        let people = 24 * scale
        let messages = (0..<12 * scale).map { message($0, people) }
        for number in 0..<people {
            cache.set(person(number))
            probes.append(.node(Person.self, "p:\(number)"))
        }
        for message in messages {
            cache.set(message)
            probes.append(.node(Message.self, message.id))
        }
        for number in 0..<scale {
            let own = Array(messages[number * 8..<number * 8 + 8])
            cache.set(
                Feed(
                    "f:\(number)", messages: own,
                    people: ["a": person(number), "b": person(number + 1)],
                    pinned: own[0], cover: Cover("cover \(number)", of: person(number + 2))))
            probes.append(.node(Feed.self, "f:\(number)"))
        }
        cache.setCollection(Array(messages.prefix(4 * scale)), forKey: "all")
        cache.setCollection(
            (0..<scale).map { Remark("remark \($0)", on: person($0)) }, forKey: "remarks")
        cache.setModel(messages[3], forKey: "one")
        cache.setModel(Remark("by itself", on: person(4)), forKey: "inline")
        probes += [
            .collection(Message.self, "all"), .collection(Remark.self, "remarks"),
            .key(Message.self, "one"),
            .key(Remark.self, "inline"),
        ]
    }

    private mutating func writeOddities(_ cache: NormalizedCache) {
        let noise = Data((0..<14_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        cache.set(Box("long:raw", noise))
        probes.append(.node(Box<Data>.self, "long:raw") { $0.value })
        let digits = String(
            (0..<20_000).map { _ in Character("\(Int.random(in: 0...9, using: &random))") })
        cache.set(Person("long:frame", digits))
        probes.append(.node(Person.self, "long:frame"))
        cache.set(Person("long:name " + String(repeating: "n", count: 600), "has a long name"))
        probes.append(.node(Person.self, "long:name " + String(repeating: "n", count: 600)))
        let note = (0..<6).map { "\($0) of 6, which carries its own names and says the same again" }
            .joined(
                separator: ", ")
        for number in 0..<80 {
            cache.set(Bag("b:\(number)", ["field \(number)": "value \(number)", "note": note]))
            probes.append(.node(Bag.self, "b:\(number)"))
        }
        cache.set(Ring("r:1", left: Ring("r:2", left: Ring("r:1")), right: Ring("r:3")))
        probes += (1...3).map { .node(Ring.self, "r:\($0)") { $0.outline } }
    }

    /// Writes nodes, a key and a collection with one identifier, whose handles differ in a bit.
    private mutating func writeTwins(_ cache: NormalizedCache) throws {
        probes.append(.collection(Person.self, "twin"))
        let collection = try present(try cache.handle("twin", in: .collection)).rawValue
        func next() throws -> UInt64 { try cache.readStorage { try $0.counters($1).nextHandle } }
        while try (next() ^ collection).nonzeroBitCount != 1 {
            let number = try next()
            try cache.set(Person("fill:\(number)", "fills the numbers up")).wait()
            probes.append(.node(Person.self, "fill:\(number)"))
        }
        try cache.set(Leaflet(id: "twin", text: "a leaflet of few words")).wait()
        probes.append(.node(Leaflet.self, "twin"))
    }

    /// Makes later records be compressed without a dictionary, as after damage to the list.
    private func forgetCurrentDictionaries(_ cache: NormalizedCache) throws {
        try cache.tamper { transaction, keyspaces in
            var list = try DictionaryTable(loading: transaction, keyspaces)
            list.replaceCurrent(with: nil)
            try transaction.put(keyspaces.info, DictionaryTable.key, list.bytes)
        }
    }

    /// Writes two people that messages do not require; references to the second become misses.
    private func loseAndDelete(_ cache: NormalizedCache, _ scale: Int) throws {
        let readers = (0..<12 * scale).map { ($0 * 7 + 1) % (24 * scale) }.filter {
            $0 >= 12 * scale
        }
        try cache.delete("p:\(readers.first ?? 0)").wait()
        try cache.damage("p:\(readers.last ?? 0)")
        _ = cache.read(Person.self, "p:\(readers.last ?? 0)")
        try cache.set(Person("s:0", "s")).wait()
    }
}
