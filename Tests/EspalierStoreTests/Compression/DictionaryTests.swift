import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("Dictionaries of a cache")
struct DictionaryTests {
    @Test("A cache trains dictionaries by itself once it has written enough")
    func bySelf() async throws {
        try await withCache(CompressedCache.configuration) { cache in
            for round in 0..<200 where try cache.dictionaries.entries.isEmpty {
                try CompressedCache.fill(cache, "round \(round)")
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try !cache.dictionaries.entries.isEmpty)
        }
    }

    @Test("A compaction replaces a dictionary that is too large for a lowered budget")
    func loweredBudget() throws {
        try withCache(.forTests(budget: .mebibytes(50), compression: .standard)) { cache in
            var random = SeededGenerator(quietly: 3)
            let words = (0..<3_000).map { _ in String(UInt32.random(in: 0 ... .max, using: &random))
            }
            func text() -> String {
                (0..<180).map { _ in words.randomElement(using: &random) ?? "" }
                    .joined(separator: " ")
            }
            for number in 0..<3_200 { cache.set(Bag("b:\(number)", ["text": text()])) }
            try cache.compact().wait()
            func current() throws -> DictionaryTable.Entry? {
                let table = try cache.dictionaries
                return table.current.flatMap { table.entries[$0] }
            }
            let budget = ByteCount.mebibytes(2)
            let allowance = TrainingPolicy.allowance(of: budget)
            #expect(try current()?.byteCount ?? 0 > allowance)
            try cache.setBudget(budget).wait()
            try cache.compact().wait()
            let byteCount = try current()?.byteCount ?? 0
            #expect(byteCount > 0 && byteCount <= allowance)
            let uses = try cache.dictionaryUses()
            #expect(uses.keys.contains { $0 > 1 } && uses[1] ?? 0 < 20)
        }
    }

    @Test("A dictionary that no record uses any more is removed with its bytes")
    func dropped() throws {
        try CompressedCache.with { cache in
            let old = try cache.dictionaries.entries
            #expect(!old.isEmpty)
            // With other text, the rewritten records use new dictionaries.
            try CompressedCache.fill(cache, "answers")
            try cache.compact().wait()
            let new = try cache.dictionaries.entries
            #expect(Set(new.keys).isDisjoint(with: old.keys))
            for number in old.keys {
                #expect(try cache.readStorage { try $0.storedDictionary($1, number) } == nil)
            }
            CompressedCache.expectRead(cache, "answers")
        }
    }

    @Test("A transaction under way shares no dictionary with readers, because it may fail")
    func underWay() throws {
        try CompressedCache.with { cache in
            let generation = try cache.generation
            let numbers = try cache.dictionaries.entries.keys.sorted()
            #expect(!numbers.isEmpty)
            func known() -> [Int] {
                generation.dictionaries.all.indices.filter {
                    generation.dictionaries.all[$0] != nil
                }
            }
            func readAll(_ snapshot: Snapshot) throws {
                generation.blocks.removeAll()
                let stored = try StoredRecords(snapshot, generation)
                try stored.forEachHandle { handle in
                    _ = try stored.record(handle)
                    return true
                }
            }
            for number in numbers { generation.dictionaries.remove(number) }
            do {
                let transaction = try generation.environment.beginWrite()
                try readAll(transaction.snapshot)
            }
            #expect(known().isEmpty)
            // One that has succeeded does.
            generation.blocks.removeAll()
            try cache.set(CompressedCache.message(3, "thinks")).wait()
            #expect(!known().isEmpty)
            for number in numbers { generation.dictionaries.remove(number) }
            try generation.environment.read { try readAll($0.snapshot) }
            #expect(!known().isEmpty)
        }
    }

    @Test("The counts of dictionaries follow writes, deletes and evictions")
    func counts() throws {
        try CompressedCache.with { cache in
            for number in 0..<300 { cache.delete("Message:\(number)") }
            for number in 300..<600 { cache.set(CompressedCache.message(number, "thinks")) }
            try cache.evict(to: .kibibytes(100)).wait()
            let uses = try cache.dictionaryUses()
            for (number, entry) in try cache.dictionaries.entries {
                #expect(entry.frameCount == UInt64(uses[number] ?? 0))
            }
            try expectClean(cache)
        }
    }

    @Test("Deleted and evicted long records do not count among the frames of their dictionary")
    func longRecords() throws {
        try CompressedCache.with { cache in
            var random = SeededGenerator(quietly: 5)
            func expectCounts(long: Int) throws {
                let frames = try cache.dictionaries.entries.values.reduce(0) { $0 + $1.frameCount }
                let uses = try cache.dictionaryUses()
                #expect(Int(frames) == uses.filter { $0.key > 1 }.values.reduce(0, +))
                try expectClean(cache)
                let keys = try cache.readStorage { transaction, keyspaces in
                    var handles: Set<UInt64> = []
                    try transaction.forEach(in: keyspaces.long) { key, _ in
                        if let key = ChunkKey(key) { handles.insert(key.number) }
                        return true
                    }
                    return handles.count
                }
                #expect(keys == long)
            }
            for number in 0..<12 {
                let digits = (0..<6_000).map { _ in "\(Int.random(in: 0...99, using: &random)) " }
                try cache.set(Bag("Long:\(number)", ["text": digits.joined()])).wait()
            }
            try expectCounts(long: 12)
            for number in 0..<6 { try cache.delete("Long:\(number)").wait() }
            try expectCounts(long: 6)
            try cache.evict(to: .kibibytes(60)).wait()
            try expectCounts(long: 0)
        }
    }

    @Test("All dictionaries together take at most a fiftieth of the budget", arguments: [1, 2, 8])
    func share(mebibytes: Int) throws {
        let configuration = Configuration.forTests(
            budget: .mebibytes(mebibytes), compression: .standard)
        try withCache(configuration) { cache in
            for round in 0..<6 {
                // Some records are left, and continue to use the earlier dictionaries.
                for number in stride(from: 0, to: CompressedCache.messages, by: round + 1) {
                    cache.set(CompressedCache.message(number, "round \(round)"))
                }
                try cache.compact().wait()
                #expect(try cache.dictionaries.byteCount <= cache.budget.bytes / 50)
            }
            #expect(try !cache.dictionaries.entries.isEmpty)
        }
    }

    @Test("A damaged list of dictionaries is counted anew and causes no miss")
    func damagedList() throws {
        try CompressedCache.with { cache in
            try cache.tamper { try $0.put($1.info, DictionaryTable.key, [1, 2, 3]) }
            CompressedCache.expectRead(cache)
            try cache.set(Person("new:1", "n")).wait()
            let uses = try cache.dictionaryUses()
            try expectClean(cache)
            for (number, entry) in try cache.dictionaries.entries {
                #expect(entry.frameCount == UInt64(uses[number] ?? 0))
            }
            CompressedCache.expectRead(cache)
        }
    }

    @Test("A missing dictionary makes its records misses until they are written again")
    func missing() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(CompressedCache.configuration)
        try CompressedCache.fill(cache)
        try cache.compact().wait()
        let numbers = try cache.dictionaries.entries.keys.sorted()
        try cache.tamper { transaction, keyspaces in
            for number in numbers {
                try transaction.delete(keyspaces.dictionaries, ChunkKey(number, 0))
            }
        }
        cache.close()
        cache = try scratch.open(CompressedCache.configuration)
        let missed = (0..<CompressedCache.messages).filter {
            cache.read(Message.self, "Message:\($0)") == nil
        }
        #expect(missed.count > 100)
        #expect(try Set(cache.statistics().misses.keys).isSubset(of: ["damaged", "lost"]))
        try CompressedCache.fill(cache)
        CompressedCache.expectRead(cache)
        try cache.collectCycles().wait()
        try expectClean(cache)
        cache.close()
    }
}
