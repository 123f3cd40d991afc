import EspalierInspection
import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Corrupt or missing metadata")
struct CorruptMetadataTests {
    private let anna = Person("p:1", "Anna")
    private let ben = Person("p:2", "Ben")

    @Test(
        """
        Without counters no handle is assigned twice, because the next write starts a new \
        generation
        """)
    func counters() throws {
        try withCache { cache in
            try cache.set(Message("m:1", from: anna, to: ben)).wait()
            try cache.tamper { _ = try $0.delete($1.info, Counters.key) }
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: anna, to: ben))
            #expect(code(cache.set(Person("p:3", "Cem"))) == nil)
            #expect(cache.read(Message.self, "m:1") == nil)
            #expect(cache.read(Person.self, "p:3") == Person("p:3", "Cem"))
        }
    }

    @Test("A cache that has records and no format is damaged, not new")
    func format() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        try cache.set(Message("m:1", from: anna, to: ben)).wait()
        try cache.tamper { _ = try $0.delete($1.info, [UInt8]("format".utf8)) }
        cache.close()
        cache = try scratch.open()
        #expect(cache.read(Message.self, "m:1") == nil)
        try cache.set(Person("p:3", "Cem")).wait()
        try expectClean(cache)
        cache.close()
    }

    @Test("A record key beyond all assigned handles does not prevent new records")
    func keyAhead() throws {
        try withCache(isDamaged: true) { cache in
            try cache.set(Message("m:1", from: anna, to: ben)).wait()
            for ahead in [UInt64(1) << 40, .max] {
                try cache.tamper { try $0.put($1.nodes, ahead, [1, 2, 3]) }
                #expect(code(cache.set(Message("m:\(ahead)", from: anna))) == nil)
                #expect(cache.read(Message.self, "m:\(ahead)") == Message("m:\(ahead)", from: anna))
            }
        }
    }

    @Test("A lost record whose state is damaged stays lost, and trees that contain it miss")
    func lostState() throws {
        try withCache { cache in
            try cache.set(Message("m:1", from: anna, to: ben)).wait()
            try cache.damage("p:2")
            #expect(cache.read(Message.self, "m:1") == nil)
            try cache.set(Person("p:3", "Cem")).wait()
            let handle = try present(try cache.handle("p:2"))
            #expect(try cache.state(handle).flags.contains(.lost))
            try cache.tamper { transaction, keyspaces in
                let key = try transaction.stateRange(keyspaces, around: handle).first
                try transaction.put(keyspaces.state, key.rawValue, [1, 2, 3, 4, 5, 6, 7, 8, 9])
            }
            #expect(cache.read(Message.self, "m:1") == nil)
            // This write recounts all references.
            try cache.damage("p:3")
            try cache.set(Person("p:3", "Cem")).wait()
            #expect(cache.readOutcome(Message.self, "m:1").reason == .lost(path: "m:1.reader"))
            try cache.set(ben).wait()
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: anna, to: ben))
        }
    }

    @Test("Without their list, dictionaries are found again and removed with their last record")
    func dictionaries() throws {
        try withCache { cache in
            for number in 0..<400 {
                cache.set(Person("p:\(number)", "Person number \(number) of the house on the hill"))
            }
            try cache.compact().wait()
            let before = try cache.readStorage { try DictionaryTable(loading: $0, $1).entries }
            #expect(!before.isEmpty)
            try cache.tamper { _ = try $0.delete($1.info, DictionaryTable.key) }
            try cache.set(Person("p:new", "new")).wait()
            let after = try cache.readStorage { try DictionaryTable(loading: $0, $1).entries }
            // The write has packed the last frame anew, without a dictionary.
            let frames = try cache.inspect { try $0.dictionaryCensus() }.dictionaries
            #expect(frames.map(\.number) == before.keys.sorted())
            #expect(frames.allSatisfy { after[$0.number]?.frameCount == UInt64($0.use.frames) })
            #expect(frames.reduce(0) { $0 + $1.use.records } >= 392)
            #expect(
                cache.read(Person.self, "p:7")?.name == "Person number 7 of the house on the hill")
            for number in 0..<400 { cache.delete("p:\(number)") }
            try cache.set(Person("p:new", "newer")).wait()
            #expect(try cache.readStorage { try $0.dictionaryNumbers($1) } == [])
        }
    }
}
