import EspalierInspection
import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

/// A cache with enough records for training.
enum CompressedCache {
    static let configuration = Configuration.forTests(budget: .mebibytes(8), compression: .standard)
    static let messages = 1_500

    static func message(_ number: Int, _ word: String = "says") -> Message {
        Message(
            "Message:\(number)",
            from: Person(
                "Person:\(number % 40)",
                "Person number \(number % 40), who \(word) about as much as others"))
    }

    /// Runs `body` with a cache whose records were written raw and then compacted.
    static func with<R>(
        _ configuration: Configuration = configuration, _ body: (NormalizedCache) throws -> R
    ) throws -> R {
        try withCache(configuration) { cache in
            try fill(cache)
            try cache.compact().wait()
            return try body(cache)
        }
    }

    static func fill(_ cache: NormalizedCache, _ word: String = "says") throws {
        for number in 0..<messages { cache.set(message(number, word)) }
        try cache.set(people(word)).wait()
    }

    /// A record that is long enough to be compressed.
    static func people(_ word: String) -> Bag {
        var bag = Bag("Bag:0", [:])
        for number in 0..<200 { bag.fields["f\(number)"] = "field \(number) \(word) something" }
        return bag
    }

    static func expectRead(_ cache: NormalizedCache, _ word: String = "says") {
        for number in 0..<messages {
            #expect(cache.read(Message.self, "Message:\(number)") == message(number, word))
        }
        #expect(cache.read(Bag.self, "Bag:0") == people(word))
    }
}

extension NormalizedCache {
    /// The stored table of dictionaries.
    var dictionaries: DictionaryTable {
        get throws { try readStorage { try DictionaryTable(loading: $0, $1) } }
    }

    /// Returns how many frames use each dictionary, by the number of the dictionary.
    func dictionaryUses() throws -> [UInt64: Int] {
        let census = try inspect { try $0.dictionaryCensus() }
        var uses: [UInt64: Int] = [:]
        if census.raw.frames > 0 { uses[0] = census.raw.frames }
        if census.withoutDictionary.frames > 0 { uses[1] = census.withoutDictionary.frames }
        for dictionary in census.dictionaries { uses[dictionary.number] = dictionary.use.frames }
        return uses
    }
}
