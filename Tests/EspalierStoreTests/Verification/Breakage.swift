import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

/// A manipulation of a cache, and the invariants that it breaks.
struct Breakage: Sendable, CustomTestStringConvertible {
    /// A message from Anna to Ben, who is deleted. Cem has one parent, so that he has no state;
    /// Anna has two.
    struct Scene: Sendable {
        let message: Handle
        let anna: Handle
        let ben: Handle
        let cem: Handle
    }

    typealias Apply = @Sendable (inout WriteTransaction, Keyspaces, Scene) throws -> Void
    typealias ApplyToIndex = @Sendable (inout IndexTampering, Scene) -> Void

    let testDescription: String
    let invariants: Set<Int>
    private let apply: Apply
    private let applyToIndex: ApplyToIndex

    init(_ testDescription: String, _ invariants: Set<Int>, _ apply: @escaping Apply) {
        self.testDescription = testDescription
        self.invariants = invariants
        self.apply = apply
        applyToIndex = { _, _ in }
    }

    init(
        _ testDescription: String, _ invariants: Set<Int>,
        index applyToIndex: @escaping ApplyToIndex
    ) {
        self.testDescription = testDescription
        self.invariants = invariants
        self.applyToIndex = applyToIndex
        apply = { _, _, _ in }
    }

    func apply(to cache: NormalizedCache, _ scene: Scene) throws {
        try cache.tamperIndex { applyToIndex(&$0, scene) }
        try cache.tamper { try apply(&$0, $1, scene) }
    }

    /// A handle that the cache has never assigned.
    private static let nothing = Handle(999)

    static let all = [
        first, second, third, fourth, fifth, sixth, ofGroups, unreadable,
    ].flatMap(\.self)

    private static let first = [
        Breakage("a reference to nothing", [1, 5]) { try put(nil, $2.ben, &$0, $1) }
    ]

    private static let second = [
        Breakage("a count too high", [2]) {
            try put(StateEntry(referenceCount: 3), $2.anna, &$0, $1)
        },
        Breakage("a count too low", [2]) { try put(nil, $2.anna, &$0, $1) },
        Breakage("a tombstone's count too high", [2]) {
            try put(StateEntry(referenceCount: 2, flags: .tombstone), $2.ben, &$0, $1)
        },
        Breakage("a state of nothing", [2]) { transaction, keyspaces, _ in
            try put(StateEntry(referenceCount: 2), nothing, &transaction, keyspaces)
        },
        Breakage("a state that is the default", [2]) { try put(.default, $2.cem, &$0, $1) },
    ]

    private static let third = [
        Breakage("a root that is not listed", [3]) { transaction, keyspaces, scene in
            try unlist(scene.message, &transaction, keyspaces)
        },
        Breakage("a record listed that is no root", [3]) {
            try list($2.anna, Stamp(1), &$0, $1)
        },
        Breakage("a root listed under another stamp", [3]) { transaction, keyspaces, scene in
            try unlist(scene.message, &transaction, keyspaces)
            try list(scene.message, Stamp(77), &transaction, keyspaces)
        },
        Breakage("a root listed twice", [3]) {
            try list($2.message, Stamp(77), &$0, $1)
        },
        Breakage("a damaged group of `recency`", [3]) { transaction, keyspaces, _ in
            var group: (key: [UInt8], value: [UInt8]) = ([], [])
            try transaction.forEach(in: keyspaces.recency) { key, value in
                group = ([UInt8](copying: key), [UInt8](copying: value))
                return false
            }
            group.value[1] ^= 1
            try transaction.put(keyspaces.recency, group.key, group.value)
        },
        Breakage("a group of `recency` behind the key of the next one", [3]) {
            try list($2.message, Stamp(77), &$0, $1)
            try $0.put($1.recency, KeyPair(60, 0), [])
        },
        Breakage("a flagged record that is not listed", [3]) {
            try put(StateEntry(referenceCount: 2, flags: .onCycle), $2.anna, &$0, $1)
        },
        Breakage("a key of another length", [3]) { transaction, keyspaces, _ in
            try transaction.put(keyspaces.recency, [1, 2, 3] as [UInt8], [])
        },
    ]

    private static let fourth = [
        Breakage(
            "a record that the index lacks", [4],
            index: { tampering, _ in
                tampering.remove("p:anna")
            }),
        Breakage("a record under two identifiers", [4], index: { $0.set("p:x", to: $1.anna) }),
        Breakage(
            "a record in another name space", [4],
            index: { tampering, scene in
                tampering.remove("p:anna")
                tampering.set("p:anna", in: .key, to: scene.anna)
            }),
        Breakage(
            "an index entry of nothing", [4],
            index: { tampering, _ in
                tampering.set("p:x", to: nothing)
            }),
        Breakage("an index entry of a tombstone", [4], index: { $0.set("p:ben", to: $1.ben) }),
        Breakage(
            "a damaged group of the index", [0, 4],
            index: { tampering, _ in
                tampering.damageGroup(of: "p:anna")
            }),
        Breakage("a group of the index under another key", [0, 4]) { transaction, keyspaces, _ in
            let group = try transaction.value(keyspaces.index, IndexGroup.lowestKey) ?? []
            try transaction.delete(keyspaces.index, IndexGroup.lowestKey)
            try transaction.put(keyspaces.index, [1] as [UInt8], group)
        },
        Breakage("a chunk of nothing", [4, 5]) { transaction, keyspaces, _ in
            try transaction.put(keyspaces.long, ChunkKey(nothing.rawValue, 1), [1])
        },
        Breakage("a handle that was not given out", [4]) { transaction, keyspaces, _ in
            try count(&transaction, keyspaces) { $0.nextHandle = 1 }
        },
    ]

    private static let counters: [(String, any WritableKeyPath<Counters, UInt64> & Sendable)] = [
        ("bytes", \.recordBytes), ("nodes", \.nodes), ("keys", \.keys),
        ("collections", \.collections),
        ("segments", \.segments), ("tombstones", \.tombstones),
    ]

    private static let fifth =
        counters.map { name, counter in
            Breakage("\(name) counted wrong", [5]) { transaction, keyspaces, _ in
                try count(&transaction, keyspaces) { $0[keyPath: counter] += 1 }
            }
        }
        + [1, -1].map { change in
            Breakage("a shape's records counted wrong by \(change)", [5]) {
                transaction, keyspaces, scene in
                guard
                    let number = try (1...9 as ClosedRange<UInt64>).first(where: {
                        try transaction.storedShape(keyspaces, $0)?.shape.types == ["Person"]
                    }),
                    let shape = try transaction.storedShape(keyspaces, number)?.shape
                else { throw Missing() }
                let stored = StoredShape(recordCount: UInt64(2 + change), shape: shape)
                try transaction.put(keyspaces.shapes, number, stored.bytes(number: number))
            }
        }

    private static let sixth = [
        Breakage("a tombstone that nothing refers to", [5, 6]) { transaction, keyspaces, _ in
            try put(
                StateEntry(referenceCount: 0, flags: .tombstone), nothing, &transaction, keyspaces)
        },
        Breakage("a tombstone that is a record", [5, 6]) {
            try put(StateEntry(referenceCount: 2, flags: .tombstone), $2.anna, &$0, $1)
        },
        Breakage("a lost stub that is a record", [6]) {
            try put(StateEntry(referenceCount: 2, flags: .lost), $2.anna, &$0, $1)
        },
    ]

    /// What can be wrong with the groups in which states stand.
    static let ofGroups = [
        Breakage("a damaged group of states", [0, 1, 2, 3, 5]) { transaction, keyspaces, scene in
            let key = try transaction.stateRange(keyspaces, around: scene.anna).first
            try transaction.put(keyspaces.state, key.rawValue, [1, 1, 1, 1, 1])
        },
        Breakage("groups of states that overlap", [0, 1, 2, 3, 5]) {
            transaction, keyspaces, scene in
            let key = try transaction.stateRange(keyspaces, around: scene.anna).first
            let middle = Handle(key.rawValue + 1)
            let entry = StateGroup.Entry(handle: middle, state: .unreferenced)
            try transaction.put(
                keyspaces.state, middle.rawValue, StateGroup(middle, [entry]).bytes)
        },
        Breakage("an empty group of states", [0]) { transaction, keyspaces, _ in
            try transaction.put(keyspaces.state, UInt64(900), StateGroup(Handle(900)).bytes)
        },
        Breakage("a group of states under a key that is no handle", [0]) {
            transaction, keyspaces, _ in
            try transaction.put(
                keyspaces.state, [1, 2, 3] as [UInt8], [1, 1, 1, 1, 1, 1, 1, 1, 1])
        },
    ]

    private static let unreadable = [
        Breakage("a damaged container", [0, 2, 4, 5]) {
            let key = try $0.container(around: $2.cem, $1).key
            try $0.put($1.nodes, key.rawValue, [1, 1, 1, 1])
        },
        Breakage("a damaged change set", [0]) { transaction, keyspaces, _ in
            try transaction.put(keyspaces.changes, ChunkKey(1, 0), [1, 1, 1, 1, 1, 1, 1, 1, 1])
        },
        Breakage("a change set that lacks a chunk", [0]) { transaction, keyspaces, _ in
            let stored = StoredChanges(longChanges(of: 1), by: .ofThisProcess())
            let chunks = stored.chunks(limit: 100)
            try transaction.put(keyspaces.changes, ChunkKey(1, 0), chunks[0])
            try transaction.put(keyspaces.changes, ChunkKey(1, 1), chunks[1])
        },
        Breakage("a change set of a commit that was not made", [5]) { transaction, keyspaces, _ in
            let stored = StoredChanges(ChangeSet(commit: 99), by: .ofThisProcess())
            try transaction.put(keyspaces.changes, ChunkKey(99, 0), stored.chunks(limit: 100)[0])
        },
        Breakage("a damaged shape", [0]) { transaction, keyspaces, _ in
            try transaction.put(keyspaces.shapes, UInt64(77), [1, 1, 1, 1, 1, 1, 1, 1, 1])
        },
    ]

    private static func longChanges(of commit: UInt64) -> ChangeSet {
        var changes = ChangeSet(commit: commit)
        changes.written = (0..<100).map { "p:\($0)" }
        return changes
    }

    private static func put(
        _ entry: StateEntry?, _ handle: Handle, _ transaction: inout WriteTransaction,
        _ keyspaces: Keyspaces
    ) throws {
        try transaction.put(entry, of: handle, keyspaces)
    }

    private static func unlist(
        _ handle: Handle, _ transaction: inout WriteTransaction, _ keyspaces: Keyspaces
    ) throws {
        guard let state = try transaction.state(keyspaces, of: handle) else { throw Missing() }
        try transaction.move(handle, from: state.stamp, keyspaces)
    }

    private static func list(
        _ handle: Handle, _ stamp: Stamp, _ transaction: inout WriteTransaction,
        _ keyspaces: Keyspaces
    ) throws {
        try transaction.move(handle, to: stamp, keyspaces)
    }

    private static func count(
        _ transaction: inout WriteTransaction, _ keyspaces: Keyspaces,
        _ change: (inout Counters) -> Void
    ) throws {
        var counters = try transaction.counters(keyspaces)
        change(&counters)
        try transaction.put(keyspaces.info, Counters.key, counters.bytes)
    }
}
