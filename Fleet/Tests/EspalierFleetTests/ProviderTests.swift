import Espalier
import EspalierFleet
import EspalierRedis
import FleetFixtures
import Foundation
import Synchronization
import Testing

/// A time that a test sets.
final class ManualTime: Sendable {
    private let now = Mutex(UInt64(Date().timeIntervalSince1970 * 1_000))

    var milliseconds: UInt64 { now.withLock { $0 } }

    func advance(by milliseconds: UInt64) { now.withLock { $0 += milliseconds } }
}

/// A server behind the caches, which counts how often it is asked.
final class Origin: Sendable {
    struct Offline: Error {}
    private let asked = Mutex(0)

    var count: Int { asked.withLock { $0 } }

    func note() async throws -> Note {
        asked.withLock { $0 += 1 }
        try await Task.sleep(for: .milliseconds(30))
        return Note("1", "network")
    }
}

/// A model of data providers.
struct Note: NormalizedModel, Model, Equatable {
    var id: String
    var text: String
    var modelIdentifier: String? { "Note:\(id)" }

    init(_ id: String, _ text: String) {
        self.id = id
        self.text = text
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
    }

    func map(_ transform: (any Model) -> (any Model)?) -> Note? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

@Suite("A shared cache behind data providers", .serialized)
struct ProviderTests {
    @Test("Calls take effect in their order, and reads see the writes before them")
    func order() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        for number in 0..<50 {
            fleet.a.setModel(Note("1", "\(number)"), forKey: "Note:1", context: nil)
        }
        let read: Note? = await withCheckedContinuation { continuation in
            fleet.a.modelForKey("Note:1", context: nil) { (note: Note?, _) in
                continuation.resume(returning: note)
            }
        }
        #expect(read == Note("1", "49"))
        try await fleet.a.flush()
        #expect(await fleet.b.read(Note.self, "Note:1") == Note("1", "49"))
        fleet.a.deleteModel(Note("1", ""), forKey: nil, context: nil)
        try await fleet.a.flush()
        #expect(await eventually { await fleet.b.read(Note.self, "Note:1") == nil })
    }

    @Test("An edit is applied if the sender knows the collection, and is out of date otherwise")
    func edits() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        fleet.a.setCollection([Note("1", "a"), Note("2", "b")], forKey: "notes", context: nil)
        func append(_ host: SharedCache, _ id: String, count: Int) async -> CollectionEditOutcome {
            await withCheckedContinuation { continuation in
                host.editCollection(
                    .append([Note(id, id)]), forKey: "notes",
                    expecting: CollectionNeighbours(
                        count: count, previous: count > 0 ? "Note:\(count)" : nil, current: nil,
                        next: nil),
                    context: nil
                ) { continuation.resume(returning: $0) }
            }
        }
        guard case .applied = await append(fleet.a, "3", count: 2) else {
            Issue.record("not applied")
            return
        }
        guard case .outOfDate = await append(fleet.b, "4", count: 2) else {
            Issue.record("not out of date")
            return
        }
        let notes = await fleet.b.collection(of: Note.self, forKey: "notes")
        #expect(notes?.map(\.id) == ["1", "2", "3"])
    }

    @Test("A collection that is set with its models kept leaves what other hosts have changed")
    func keptModels() async throws {
        // After an answer with commits, a host does not hear of others for four seconds.
        let fleet = try await Fleet {
            $0.maximumStaleness = .seconds(20)
            $0.followPause = .seconds(4)
        }
        defer { fleet.end() }
        try await fleet.a.set(Note("1", "old"))
        #expect(await eventually { await fleet.a.near.read(Note.self, "Note:1") != nil })
        try await fleet.b.update(Note.self, "Note:1") { Note($0.id, "new") }
        #expect(await fleet.a.read(Note.self, "Note:1")?.text == "old", "a has not heard of it")
        let stored = try #require(try fleet.value("n:Note:1"))
        func set(_ notes: [Note]) async -> (any Error)? {
            await withCheckedContinuation { continuation in
                fleet.a.setCollection(
                    notes, forKey: "notes", options: CacheWriteOptions(keepsModels: true)
                ) { continuation.resume(returning: $0) }
            }
        }
        let notes = [Note("1", "old"), Note("2", "b"), Note("1", "old")]
        #expect(await set(notes) == nil)
        #expect(try fleet.value("n:Note:1") == stored)
        #expect(try fleet.value("n:Note:2") != nil, "what no server had is stored")
        let reader = try SharedCache(FleetConfiguration(servers: fleet.servers.map(\.address)))
        defer { reader.close() }
        #expect(
            await reader.collection(of: Note.self, forKey: "notes")?.map(\.text)
                == ["new", "b", "new"])
        // Host a still has a copy of what the servers have evicted.
        for server in fleet.servers { try server.send("DEL", "espalier:n:Note:1") }
        #expect(await set(notes) == nil)
        #expect(try fleet.value("n:Note:1") != nil)
        // What another host has deleted does not come back.
        try await fleet.b.delete("Note:2")
        #expect(await set(notes) == nil)
        let last = try SharedCache(FleetConfiguration(servers: fleet.servers.map(\.address)))
        defer { last.close() }
        #expect(await last.read(Note.self, "Note:2") == nil)
        #expect(await last.collection(of: Note.self, forKey: "notes")?.count == 2)
    }

    @Test("A screen on one host shows what another host has changed") @MainActor
    func screens() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        let manager = DataModelManager(cache: fleet.a)
        let provider = DataProvider<Note>(dataModelManager: manager)
        provider.setData(Note("1", "first"))
        try await fleet.a.flush()
        #expect(await eventually { await fleet.b.read(Note.self, "Note:1") != nil })
        try await fleet.b.update(Note.self, "Note:1") { Note($0.id, "second") }
        let end = ContinuousClock.now + .seconds(5)
        while provider.data?.text != "second", ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(provider.data == Note("1", "second"))
        try await fleet.b.delete("Note:1")
        while provider.data != nil, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(provider.data == nil)
    }

    @Test("Policies of fetches ask the cache and the network in their order")
    func policies() async throws {
        let fleet = try await Fleet()
        defer { fleet.end() }
        let origin = Origin()
        let network: @Sendable () async throws -> Note = { try await origin.note() }
        let offline: @Sendable () async throws -> Note = { throw Origin.Offline() }
        await #expect(throws: FetchError.self) {
            try await fleet.a.fetch(Note.self, "Note:1", policy: .cacheOnly, from: network)
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask { [host = fleet.a] in
                    let note = try? await host.fetch(
                        Note.self, "Note:1", policy: .cacheThenNetwork, from: network)
                    #expect(note?.text == "network")
                }
            }
        }
        #expect(origin.count == 1)
        for policy in FetchPolicy.allCases {
            let note = try await fleet.b.fetch(
                Note.self, "Note:1", policy: policy, from: offline)
            #expect(note.text == "network", "\(policy)")
        }
        await #expect(throws: Origin.Offline.self) {
            try await fleet.b.fetch(
                Note.self, "Note:2", policy: .staleWhileRevalidate, from: offline)
        }
    }
}
