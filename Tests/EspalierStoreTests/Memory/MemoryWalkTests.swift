import EspalierLMDB
import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("Random reads from memory and from disk")
struct MemoryWalkTests {
    /// The variable `ESPALIER_MEMORY_STEPS` makes the walk longer.
    private static let steps =
        ProcessInfo.processInfo.environment["ESPALIER_MEMORY_STEPS"].flatMap { Int($0) } ?? 4_000

    @Test("Every read from memory gives what the same read from disk gives", arguments: 0..<2)
    func walk(turn: Int) async throws {
        let seed = UInt64.random(in: 0...999_999)
        var walk = try MemoryWalk(seed: seed, budget: turn == 0 ? .mebibytes(8) : .kibibytes(64))
        for step in 1...Self.steps {
            try await walk.step(step)
            #expect(walk.differences == [], "seed \(seed), step \(step)")
            if !walk.differences.isEmpty { break }
        }
        walk.count()
        #expect(walk.hits > Self.steps / 4, "seed \(seed)")
        #expect(walk.staleReads > Self.steps / 4, "seed \(seed)")
        // The commit clears what the last reads have found damaged.
        try await walk.cache.set(NoteTitle(id: 1, title: "last")).committed
        try expectClean(walk.cache)
        walk.cache.close()
    }

    @Test("The walk notices a commit that does not tell what it changes")
    func canary() async throws {
        var walk = try MemoryWalk(seed: 1, budget: .mebibytes(8))
        walk.hidesChanges = true
        var step = 0
        while walk.differences.isEmpty, step < 2_000 {
            step += 1
            try await walk.step(step)
        }
        #expect(!walk.differences.isEmpty)
        walk.cache.close()
    }
}

/// A cache, random changes, and reads that are made twice: from memory and from disk.
private struct MemoryWalk {
    private let scratch: Scratch
    private(set) var cache: NormalizedCache
    private var random: SeededGenerator
    private let configuration: Configuration
    /// What is in the crates, by number. The parts of each have larger numbers.
    private var crates = [(value: String, parts: [Int])](repeating: ("", []), count: 8)
    private(set) var differences: [String] = []
    /// Whether commits keep to themselves what they have changed, as a defect would.
    var hidesChanges = false

    init(seed: UInt64, budget: ByteCount) throws {
        random = SeededGenerator(seed: seed)
        scratch = try Scratch()
        var configuration = Configuration.forTests
        configuration.memoryBudget = budget
        configuration.budget = .mebibytes(2)
        self.configuration = configuration
        cache = try scratch.open(configuration)
    }

    /// How often reads found their trees in memory, and found that they had changed.
    private(set) var hits = 0
    private(set) var staleReads = 0

    /// Takes over what the cache has counted.
    mutating func count() {
        guard let memory = try? cache.statistics().memory else { return }
        (hits, staleReads) = (memory.hits, memory.staleReads)
    }

    mutating func step(_ number: Int) async throws {
        try await change(number)
        if hidesChanges { hideChanges() }
        for _ in 0..<4 { compare() }
    }

    /// Lets the history forget what the last commit has changed.
    private func hideChanges() {
        let last = (try? cache.generation.environment.lastTransaction) ?? 0
        cache.engine.memory?.hideChanges(upTo: last)
    }

    // MARK: - Changes

    private mutating func change(_ number: Int) async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<22: try await cache.set(person()).committed
        case 22..<40: try await cache.set(post(depth: 2)).committed
        case 40..<48: try await cache.set(page()).committed
        case 48..<54: try await cache.set(person(), policy: .merge).committed
        case 54..<60: try await cache.set(NoteTitle(id: id(8), title: text())).committed
        case 60..<66:
            try await cache.set(NoteTitle(id: id(8), title: text()), policy: .merge).committed
        case 66..<71: try await cache.setCollection(posts(), forKey: key()).committed
        case 71..<74: try await cache.setModel(page(), forKey: key()).committed
        case 74..<79: try await cache.delete(identifier()).committed
        case 79..<81: try await cache.deleteCollection(forKey: key()).committed
        case 81..<84: try? await cache.evict(identifier()).committed
        case 84..<86: try await knot(number)
        case 86: for _ in 0..<6 { try await cache.set(crate()).committed }
        case 87..<90: try await append()
        case 90..<92: try await batch()
        case 92: try fill(number)
        case 93: await writeInOtherProcess(number)
        case 94: try await shrink(number)
        case 95..<96: try reopen()
        case 96..<97: try? damage()
        case 97..<98: try? await cache.compact().committed
        case 98: try await cache.removeAll().committed
        default: cache.trimMemory()
        }
    }

    private mutating func knot(_ number: Int) async throws {
        // Knots refer to each other: reads of them cut references.
        let others = (0..<2).map { _ in Tangle(id: id(5), value: text(), others: []) }
        try await cache.set(Tangle(id: id(5), value: text(), others: others)).committed
    }

    /// Returns a crate whose parts are shared by others, several levels down.
    private mutating func crate() -> Crate {
        let changed = id(8)
        crates[changed].value = text()
        crates[changed].parts = (0..<id(4)).map { _ in changed + 1 + id(3) }.filter { $0 < 8 }
        return crate(changed)
    }

    private func crate(_ id: Int) -> Crate {
        Crate(id: id, value: crates[id].value, parts: crates[id].parts.map(crate))
    }

    private mutating func append() async throws {
        let (key, element) = (key(), post(depth: 1))
        try? await cache.append([element], toCollection: key).committed
    }

    private mutating func batch() async throws {
        let (person, post, gone) = (person(), post(depth: 1), identifier())
        try await cache.write { batch in
            batch.set(person)
            batch.set(post)
            batch.delete(gone)
        }.committed
    }

    /// Writes so much that the cache evicts.
    private mutating func fill(_ number: Int) throws {
        let first = 1_000 + number * 400
        var members: [Member] = []
        for id in first..<first + 400 { members.append(Member(id: id, name: text() + text())) }
        try cache.set(members).wait()
    }

    /// Evicts, or changes the budget.
    private func shrink(_ number: Int) async throws {
        if number % 2 == 0 {
            try await cache.evict(to: .kibibytes(900)).committed
        } else {
            try await cache.setBudget(number % 4 == 1 ? .mebibytes(3) : .mebibytes(2)).committed
        }
    }

    /// Lets another process change what this one has in memory.
    private func writeInOtherProcess(_ number: Int) async {
        await #expect(processExitsWith: .success) {
            [directory = scratch.directory as String, number = number as Int] in
            try OtherProcess.write(to: directory, number)
        }
    }

    private mutating func reopen() throws {
        cache.close()
        cache = try scratch.open(configuration)
    }

    /// Damages a record, and lets a read find that.
    private mutating func damage() throws {
        let name = identifier()
        try cache.damage(name)
        _ = cache.read(Member.self, name)
        _ = cache.read(Note.self, name)
        // Memory may have answered both. This read meets the damage, so that it does not stay.
        _ = cache.json(of: name)
    }

    // MARK: - Reads

    private mutating func compare() {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<2: node(Member.self, "Member:\(id(12))")
        case 2..<4: node(Note.self, "Note:\(id(8))")
        case 4..<6: node(Sheet.self, "Sheet:\(id(3))")
        case 6: node(NoteTitle.self, "Note:\(id(8))")
        case 7:
            if id(2) == 0 {
                node(Tangle.self, "Tangle:\(id(5))")
            } else {
                node(Crate.self, "Crate:\(id(3))")
            }
        case 8: collection(Note.self, key())
        case 9: collection(NoteTitle.self, key())
        case 10: model(Sheet.self, key())
        default: model(Note.self, "Note:\(id(8))")
        }
    }

    private mutating func node<Model: IdentifiedModel & Equatable>(
        _ type: Model.Type, _ identifier: String
    ) {
        let fromMemory = cache.readOutcome(type, identifier)
        let fromDisk: ReadOutcome<Model> = cache.outcome(
            .node(type, identifier), .latest, .peek
        ) { try $0.node(type, identifier, into: &$1) }
        check(fromMemory, fromDisk, "\(type) \(identifier)")
    }

    private mutating func model<Model: IdentifiedModel & Equatable>(
        _ type: Model.Type, _ key: String
    ) {
        let fromMemory = cache.modelOutcome(type, forKey: key)
        let fromDisk: ReadOutcome<Model> = cache.outcome(.key(type, key), .latest, .peek) {
            try $0.model(type, forKey: key, into: &$1)
        }
        check(fromMemory, fromDisk, "key \(key) as \(type)")
    }

    private mutating func collection<Model: IdentifiedModel & Equatable>(
        _ type: Model.Type, _ key: String
    ) {
        let fromMemory = cache.collectionOutcome(of: type, forKey: key)
        let fromDisk: ReadOutcome<[Model]> = cache.outcome(
            .collection(type, key), .latest, .peek
        ) { try $0.collection(type, forKey: key, into: &$1) }
        check(fromMemory, fromDisk, "collection \(key) of \(type)")
    }

    private mutating func check<Value: Equatable>(
        _ fromMemory: ReadOutcome<Value>, _ fromDisk: ReadOutcome<Value>, _ what: String
    ) {
        switch (fromMemory, fromDisk) {
        case (.hit(let a), .hit(let b)):
            if a.value != b.value || a.isCut != b.isCut {
                differences.append("\(what): \(a.value) from memory, \(b.value) from disk")
            }
        case (.miss(let a), .miss(let b)):
            if a != b { differences.append("\(what): \(a) from memory, \(b) from disk") }
        default: differences.append("\(what): \(fromMemory) from memory, \(fromDisk) from disk")
        }
    }

    // MARK: - Models

    private mutating func id(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func key() -> String { "key:\(id(3))" }

    private mutating func identifier() -> String {
        switch id(3) {
        case 0: "Member:\(id(12))"
        case 1: "Note:\(id(8))"
        default: "Sheet:\(id(3))"
        }
    }

    private mutating func text() -> String {
        String(repeating: "text \(id(4)) ", count: 1 + id(3))
    }

    private mutating func person() -> Member { Member(id: id(12), name: text()) }

    private mutating func post(depth: Int) -> Note {
        Note(
            id: id(8), title: text(), author: person(), editor: id(2) == 0 ? person() : nil,
            readers: (0..<id(4)).map { _ in person() })
    }

    private mutating func posts() -> [Note] { (0..<id(5)).map { _ in post(depth: 1) } }

    private mutating func page() -> Sheet {
        Sheet(id: id(3), title: text(), posts: posts(), top: id(2) == 0 ? post(depth: 1) : nil)
    }
}

private enum OtherProcess {
    static func write(to directory: String, _ number: Int) throws {
        let cache = try NormalizedCache(directory: directory, configuration: .forTests)
        let member = Member(id: number % 12, name: "from another process, \(number)")
        try cache.set(member).wait()
        if number % 3 == 0 { try cache.delete("Note:\(number % 8)").wait() }
        try cache.set(
            Note(id: number % 7, title: "\(number)", author: member, editor: nil, readers: [])
        ).wait()
        cache.close()
    }
}

private struct Member: NormalizedModel, Equatable, Codable {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Member:\(id)" }
}

private struct Crate: NormalizedModel, Equatable, Codable {
    let id: Int
    let value: String
    let parts: [Crate]
    var modelIdentifier: String? { "Crate:\(id)" }
}

private struct Note: NormalizedModel, Equatable, Codable {
    let id: Int
    let title: String
    let author: Member
    let editor: Member?
    let readers: [Member]
    var modelIdentifier: String? { "Note:\(id)" }
}

/// A projection of a post.
private struct NoteTitle: NormalizedModel, Equatable, Codable {
    let id: Int
    let title: String
    var modelIdentifier: String? { "Note:\(id)" }
}

private struct Sheet: NormalizedModel, Equatable, Codable {
    let id: Int
    let title: String
    let posts: [Note]
    let top: Note?
    var modelIdentifier: String? { "Sheet:\(id)" }
}

private struct Tangle: NormalizedModel, Equatable, Codable {
    let id: Int
    let value: String
    let others: [Tangle]
    var modelIdentifier: String? { "Tangle:\(id)" }
}
