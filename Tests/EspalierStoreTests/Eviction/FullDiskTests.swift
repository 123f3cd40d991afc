import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("A disk without room")
struct FullDiskTests {
    @Test(
        "On a full disk writes succeed by evicting others, and with room the cache grows again",
        arguments: [1, 50])
    func evicts(atOnce: Int) async {
        await #expect(processExitsWith: .success) { [atOnce = atOnce as Int] in
            try Self.fill(atOnce)
        }
    }

    /// Runs in a process of its own, which may not make a file larger than 2 MiB: a write beyond
    /// fails as it does on a full disk.
    private static func fill(_ atOnce: Int) throws {
        signal(SIGXFSZ, SIG_IGN)
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests(budget: .mebibytes(16)))
        limitFiles(to: 2 << 20)
        let text = String(repeating: "t", count: 2_000)
        for start in stride(from: 0, to: 4_000, by: atOnce) {
            let people = (start..<start + atOnce).map { Person("p:\($0)", text) }
            guard code(cache.set(people)) == nil else { exit(3) }
        }
        guard cache.read(Person.self, "p:3999") != nil, cache.read(Person.self, "p:0") == nil else {
            exit(4)
        }
        let statistics = try cache.statistics()
        // More than half of the file holds records, and it has not grown.
        print(statistics.nodes, statistics.fileBytes, statistics.droppedWrites)
        guard statistics.nodes > 150, statistics.fileBytes <= ByteCount(2 << 20),
            statistics.droppedWrites.isEmpty, statistics.generationsReplaced.isEmpty
        else { exit(5) }
        guard try cache.verify().isClean else { exit(6) }
        // With room again, the file grows to the budget.
        limitFiles(to: 64 << 20)
        let generation = try cache.generation
        try generation.environment.resize(
            mapSize: Generation.mapSize(for: generation.budget), deadline: .seconds(1))
        for number in 0..<4_000 {
            guard code(cache.set(Person("p:\(number)", text))) == nil else { exit(9) }
        }
        guard try cache.statistics().nodes > 1_500, try cache.verify().isClean else { exit(10) }
        cache.close()
    }

    @Test("A disk that is full for a moment costs no records")
    func moment() async {
        await #expect(processExitsWith: .success) {
            // The first write beyond the limit fails, and its signal raises the limit. The threads
            // of the cache inherit that the signal is not blocked.
            signal(SIGXFSZ) { _ in FullDiskTests.limitFiles(to: 64 << 20) }
            var signals = sigset_t()
            unsafe sigemptyset(&signals)
            unsafe sigaddset(&signals, SIGXFSZ)
            unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            let scratch = try Scratch()
            let cache = try scratch.open(.forTests(budget: .mebibytes(16)))
            let text = String(repeating: "t", count: 2_000)
            let people = (0..<200).map { Person("p:\($0)", text) }
            guard EspalierStoreTests.code(cache.set(people)) == nil else { exit(3) }
            Self.limitFiles(to: UInt(try cache.statistics().fileBytes.bytes))
            let more = (200..<300).map { Person("p:\($0)", text) }
            guard EspalierStoreTests.code(cache.set(more)) == nil else { exit(4) }
            for number in 0..<300 {
                guard cache.read(Person.self, "p:\(number)") != nil else { exit(5) }
            }
            guard try !cache.generation.environment.isLimitedToFile else { exit(6) }
            cache.close()
        }
    }

    @Test("Emptying a cache on a full disk frees the room of its files, even if it fails")
    func emptied() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let scratch = try Scratch()
            let cache = try scratch.open(.forTests(budget: .mebibytes(4)))
            let old = try cache.generation
            guard EspalierStoreTests.code(cache.set(Person("p:1", "Anna"))) == nil,
                await cache.read(Person.self, "p:1") != nil,
                EspalierStoreTests.code(cache.set(Person("p:2", "Ben"))) == nil
            else { exit(3) }
            // The first read keeps the tree in memory, and with it a part of the file mapped.
            for _ in 0..<3 { guard await cache.read(Person.self, "p:2") != nil else { exit(3) } }
            guard try cache.statistics().memory.trees > 0 else { exit(2) }
            let hits = try cache.statistics().hits
            Self.limitFiles(to: 4_096)
            guard EspalierStoreTests.code(cache.removeAll()) == .diskFull else { exit(4) }
            // A file that was removed takes room as long as it is open or mapped.
            guard old.environment.isClosed, try !Self.usesRemovedDataFile() else { exit(5) }
            guard EspalierStoreTests.code(cache.set(Person("p:1", "Cem"))) == .diskFull else {
                exit(6)
            }
            Self.limitFiles(to: 64 << 20)
            guard EspalierStoreTests.code(cache.set(Person("p:1", "Cem"))) == nil,
                await cache.read(Person.self, "p:1")?.name == "Cem",
                await cache.read(Person.self, "p:2") == nil
            else { exit(7) }
            let statistics = try cache.statistics()
            guard statistics.generationsReplaced == ["emptied": 1] else { exit(8) }
            guard cache.budget == .mebibytes(4) else { exit(9) }
            guard hits > 0, statistics.hits == hits + 1 else {
                exit(Int32(20 + hits * 10 + statistics.hits))
            }
            cache.close()
        }
    }

    /// Whether this process has a data file open or mapped that was removed. False where the system
    /// does not tell.
    static func usesRemovedDataFile() throws -> Bool {
        #if os(Linux)
        // Foundation reads only a part of a file that says that it is empty.
        var maps = ""
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps"))
        while let part = try file.read(upToCount: 4_096), !part.isEmpty {
            maps += String(decoding: part, as: UTF8.self)
        }
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let targets = descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        return maps.contains("data.mdb (deleted)")
            || targets.contains { $0.hasSuffix("data.mdb (deleted)") }
        #else
        return false
        #endif
    }

    /// Lets writes fail that would make a file longer than this.
    static func limitFiles(to bytes: UInt) {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        #else
        let resource = RLIMIT_FSIZE
        #endif
        guard unsafe getrlimit(resource, &limit) == 0 else { exit(11) }
        limit.rlim_cur = rlim_t(bytes)
        guard unsafe setrlimit(resource, &limit) == 0 else { exit(12) }
    }
}
