import EspalierCompression
import EspalierInspection
import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Invalid frames and dictionaries")
struct FrameTests {
    private let anna = Person("p:1", "Anna")

    /// Replaces the frame of a person's record by one whose content is `content`.
    private func put(
        _ content: [UInt8], dictionary: UInt64 = FrameDecoder.noDictionary,
        in cache: NormalizedCache
    ) throws {
        try cache.tamperWithFrame(of: present(cache.handle("p:1"))) { frame in
            guard let old = frame else { throw Missing() }
            var writer = ByteWriter()
            writer.append(varint: dictionary)
            writer.append(content)
            writer.append(old.suffix(RecordLayout.checkSize))
            frame = writer.bytes
        }
    }

    /// Returns a frame without its magic number: a header with one segment and a content size of
    /// four or eight bytes, and an empty last block.
    private func frame(claiming count: UInt64) -> [UInt8] {
        let width = count > UInt64(UInt32.max) ? 8 : 4
        return [width == 8 ? 0b1110_0000 : 0b1010_0000]
            + (0..<width).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
            + [1, 0, 0]
    }

    private static let claimed: [UInt64] = [5_000, 4 << 30, (4 << 30) - 1, 1 << 62]

    @Test(
        "A frame that claims gigabytes is refused by its claim, before memory is allocated for it",
        arguments: claimed)
    func claims(count: UInt64) throws {
        try withCache { cache in
            try cache.set(anna).wait()
            try put(frame(claiming: count), in: cache)
            let outcome = cache.readOutcome(Person.self, "p:1", access: .peek)
            if count == 5_000 {
                // The largest size that so short a frame may claim: zstd finds the error.
                #expect("\(outcome.reason.debugDescription)".contains("decompressed"))
            } else {
                #expect("\(outcome.reason.debugDescription)".contains("it claims \(count) bytes"))
            }
            #expect(outcome.reason?.name == "damaged")
            #expect(try cache.statistics().misses["damaged"] == 1)
            #expect(code(cache.set(anna)) == nil)
            #expect(cache.read(Person.self, "p:1") == anna)
        }
    }

    private static let badFrames: [[UInt8]] = [
        [0x00, 0x58, 1, 0, 0], [], [0xFF], [0xE0, 1], [0x20, 0x10], [0x20, 0, 1, 0, 0],
    ]

    @Test(
        "A frame that has no length, is invalid or is cut off is a miss",
        arguments: badFrames)
    func headers(frame: [UInt8]) throws {
        try withCache { cache in
            try cache.set(anna).wait()
            try put(frame, in: cache)
            #expect(cache.readOutcome(Person.self, "p:1").reason?.name == "damaged")
            #expect(code(cache.set(anna)) == nil)
            #expect(cache.read(Person.self, "p:1") == anna)
        }
    }

    @Test(
        """
        A dictionary of zeros whose slices have matching checks damages its own records and no \
        others
        """
    )
    func zeros() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        let people = (0..<400).map {
            Person("p:\($0)", "Person number \($0) of the house on the hill")
        }
        for person in people { cache.set(person) }
        try cache.compact().wait()
        let before = try cache.readStorage {
            try DictionaryTable(loading: $0, $1).entries.filter { $0.value.frameCount > 0 }
        }
        let records = try cache.inspect { try $0.dictionaryCensus() }.dictionaries.reduce(0) {
            $0 + $1.use.records
        }
        #expect(!before.isEmpty && records > 300)
        try cache.tamper { transaction, keyspaces in
            for (number, entry) in before {
                let zeros = StoredDictionary(
                    bytes: [UInt8](repeating: 0, count: entry.byteCount))
                for (index, slice) in zeros.slices(number: number, limit: 4_080).enumerated() {
                    try transaction.put(
                        keyspaces.dictionaries, ChunkKey(number, UInt32(index)), slice)
                }
            }
        }
        cache.close()
        cache = try scratch.open()
        #expect(try !cache.verify().isClean)
        var misses = 0
        for person in people {
            let outcome = cache.readOutcome(Person.self, person.id, access: .peek)
            #expect(outcome.value == nil || outcome.value == person)
            if outcome.reason?.name == "damaged" { misses += 1 }
        }
        #expect(misses == records)
        for person in people { cache.set(person) }
        try cache.compact().wait()
        #expect(people.allSatisfy { cache.read(Person.self, $0.id, access: .peek) == $0 })
        cache.close()
        let reopened = try scratch.open()
        #expect(people.allSatisfy { reopened.read(Person.self, $0.id, access: .peek) == $0 })
        reopened.close()
    }

    @Test("A record of a later format version, compressed or not, is a miss until it is written")
    func newerVersion() throws {
        try withCache(isDamaged: true) { cache in
            let long = Person("p:1", String(repeating: "a name that repeats itself ", count: 40))
            for person in [anna, long] {
                try cache.set(person).wait()
                try cache.makeNewer(present(cache.handle("p:1")))
                for _ in 0..<2 {
                    #expect(
                        cache.readOutcome(Person.self, "p:1").reason
                            == .newerVersion(path: "p:1", version: 3))
                    try cache.compact().wait()
                }
                #expect(code(cache.set(person)) == nil)
                #expect(cache.read(Person.self, "p:1") == person)
            }
        }
    }
}
