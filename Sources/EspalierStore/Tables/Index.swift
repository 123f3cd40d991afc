import EspalierConfinement
package import EspalierLMDB
package import EspalierRecords

/// Makes the keys of the index. `Keyspaces.indexKey` hashes them in an encrypted file.
///
///     key  = name space, identifier                             if that fits LMDB's 511 bytes
///     long = 4, name space, first 493 bytes, 128-bit hash of the rest
///
/// Keys hold the identifiers themselves. New objects often have similar identifiers, whose keys
/// then dirty few pages: with hashes, a write took 1.6 to 2 times as long. If two long identifiers
/// have the same hash, the record tells them apart, because it holds its identifier.
package enum IndexKey {
    package static let longMark: UInt8 = 4
    private static let hashSize = 16
    private static let longPrefixSize = Environment.maximumKeySize - 2 - hashSize

    package static func bytes(_ nameSpace: NameSpace, _ identifier: String) -> [UInt8] {
        var writer = ByteWriter(
            capacity: min(identifier.utf8.count + 1, Environment.maximumKeySize))
        write(nameSpace, identifier, to: &writer)
        return writer.bytes
    }

    /// Replaces the content of `writer` by a key.
    static func write(_ nameSpace: NameSpace, _ identifier: String, to writer: inout ByteWriter) {
        writer.removeAll()
        guard isLong(identifier) else {
            writer.append(nameSpace.rawValue)
            return writer.append(utf8: identifier)
        }
        let utf8 = identifier.utf8
        let rest = [UInt8](utf8.dropFirst(longPrefixSize))
        writer.append(longMark)
        writer.append(nameSpace.rawValue)
        writer.append([UInt8](utf8.prefix(longPrefixSize)))
        for seed: UInt64 in [0, 0x9E37_79B9_7F4A_7C15] {
            writer.append(integer: XXHash64.hash(rest, seed: seed))
        }
    }

    /// Whether the key holds a hash in place of the end of the identifier.
    static func isLong(_ identifier: String) -> Bool {
        identifier.utf8.count + 1 > Environment.maximumKeySize
    }

    /// Returns the prefixes of all keys whose identifiers start with `prefix`.
    package static func ranges(_ nameSpace: NameSpace, startingWith prefix: String) -> [[UInt8]] {
        let prefix = [UInt8](prefix.utf8)
        let long = [longMark, nameSpace.rawValue] + prefix.prefix(longPrefixSize)
        // Every identifier that is longer than that has a long key.
        guard prefix.count < Environment.maximumKeySize else { return [long] }
        return [[nameSpace.rawValue] + prefix, long]
    }

    /// Returns the part of a long identifier that its key holds, up to the last whole character.
    package static func beginning(ofLong key: [UInt8]) -> String {
        var bytes = key.dropFirst(2).prefix(longPrefixSize)
        // The prefix may end with up to three bytes of a character of four.
        for _ in 0..<3 {
            if let text = String(validating: bytes, as: UTF8.self) { return text }
            bytes.removeLast()
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The `index` keyspace as one transaction changes it: which handle an identifier has.
///
/// `bind` writes a new entry at once, because LMDB then searches for its place only once. `edited`
/// lists the keys of entries that the transaction has added or removed. Confined to the thread that
/// commits.
final class IndexTable {
    // immutable
    private let keyspaces: Keyspaces
    private let states: ReferenceCounts
    private let counters: CounterTable
    /// The index entries that this process has seen to be right.
    let verified: VerifiedIndexEntries

    // confined to the thread that commits
    private struct State: ~Copyable {
        /// The key of the identifier that was bound last. Its memory is reused.
        var key = ByteWriter(capacity: 64)
        /// Whether the last insertion found that the identifier had a handle.
        var lastWasKnown = false
        var edited: [[UInt8]] = []
        var newPages = NewPages()
    }
    private let state = Confined(State())

    init(
        _ keyspaces: Keyspaces, _ states: ReferenceCounts, _ counters: CounterTable,
        _ verified: VerifiedIndexEntries
    ) {
        self.keyspaces = keyspaces
        self.states = states
        self.counters = counters
        self.verified = verified
    }

    private var keyspace: Keyspace { keyspaces.index }

    /// The keys of entries that were added or removed, except by `addMissingEntry`.
    var edited: [[UInt8]] { state.value.edited }

    /// The pages that new entries fill.
    var newPages: Int { state.value.newPages.count }

    /// Returns the handle of an identifier. Gives it a handle if it has none.
    func bind(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws -> (handle: Handle, isNew: Bool) {
        keyspaces.writeIndexKey(nameSpace, identifier, to: &state.value.key)
        let key = state.value.key.bytes
        // The nodes of a tree are mostly all new or all known. Looking a known one up costs less
        // than an insertion that fails.
        if state.value.lastWasKnown, let handle = try handle(under: key, in: transaction) {
            return (handle, false)
        }
        let known = try counters.value.nextHandle.withBytes { new in
            try transaction.insert(keyspace, key, new) { try? Handle(stored: $0) }
        }
        state.value.lastWasKnown = known != nil
        guard let known else { return (bindNewHandle(to: key), true) }
        // The entry that is there may be damaged.
        if let handle = known, counters.isGivenOut(handle) { return (handle, false) }
        return (try rebind(key, in: &transaction), true)
    }

    /// Returns the handle of an identifier; nil if the index has no entry or a damaged one.
    func handle(
        of identifier: String, in nameSpace: NameSpace, _ transaction: borrowing WriteTransaction
    ) throws -> Handle? {
        try handle(under: keyspaces.indexKey(nameSpace, identifier), in: transaction)
    }

    /// Gives an identifier a new handle, even if it has one.
    func rebind(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws -> Handle {
        try rebind(keyspaces.indexKey(nameSpace, identifier), in: &transaction)
    }

    /// Removes the entry that leads to a record, so that no read finds it any more.
    func removeEntry(of record: Record, in transaction: inout WriteTransaction) throws {
        guard record.nameSpace != .segment else { return }
        let key = keyspaces.indexKey(record.nameSpace, record.identifier)
        // After damage the entry may lead to another record.
        let named = try? transaction.withValue(keyspace, key) { try Handle(stored: $0) }
        guard named == record.handle else { return }
        verified.remove(record.handle)
        try transaction.delete(keyspace, key)
        state.value.edited.append(key)
    }

    /// Removes entries that lead nowhere or to the wrong record.
    func removeDamagedEntries(_ keys: [[UInt8]], in transaction: inout WriteTransaction) throws {
        verified.removeAll()
        for key in keys { try transaction.delete(keyspace, key) }
        state.value.edited += keys
    }

    /// Removes the names of records that can't be read and that more than one entry leads to.
    /// Returns those of `unreadable` that have a name afterwards. Walks the index.
    ///
    /// This is the one rule for such names. A record that can be read holds its name, and only the
    /// entry of that name is right. The name of any other record stands only in its entry: one
    /// entry is trusted, but of several all but one are damaged, and it is not known which. A write
    /// of a wrong name would show its model wherever the record is referred to, so none is kept.
    /// Nothing readable is lost: references to the record miss, and the next write of each name
    /// makes a new record.
    func removeDoubtfulEntries(
        leadingTo unreadable: Set<Handle>, in transaction: inout WriteTransaction
    ) throws -> Set<Handle> {
        let keys = try keys(leadingTo: unreadable, in: transaction)
        let doubtful = keys.values.filter { $0.count > 1 }.flatMap(\.self)
        if !doubtful.isEmpty { try removeDamagedEntries(doubtful, in: &transaction) }
        return Set(keys.lazy.filter { $0.value.count == 1 }.map(\.key))
    }

    /// Adds the missing entry of a record, unless another record has its name by now.
    func addMissingEntry(of record: Record, in transaction: inout WriteTransaction) throws {
        let key = keyspaces.indexKey(record.nameSpace, record.identifier)
        guard try !transaction.contains(keyspace, key) else { return }
        try transaction.put(keyspace, key, record.handle.storedBytes)
    }

    /// Returns the keys that lead to each of `handles`. Walks the index.
    func keys(
        leadingTo handles: Set<Handle>, in transaction: borrowing WriteTransaction
    ) throws -> [Handle: [[UInt8]]] {
        var keys: [Handle: [[UInt8]]] = [:]
        try transaction.forEach(in: keyspace) { key, value in
            guard let handle = try? Handle(stored: value), handles.contains(handle) else {
                return true
            }
            keys[handle, default: []].append(
                try ByteReader.reading(key) { try $0.bytes(count: $0.end) })
            return true
        }
        return keys
    }

    private func handle(
        under key: [UInt8], in transaction: borrowing WriteTransaction
    ) throws -> Handle? {
        let stored = try transaction.withValue(keyspace, key) { try? Handle(stored: $0) }
        guard let stored, let handle = stored, counters.isGivenOut(handle) else { return nil }
        return handle
    }

    private func rebind(_ key: [UInt8], in transaction: inout WriteTransaction) throws -> Handle {
        // The record that the key led to has lost this name.
        if let old = try? transaction.withValue(keyspace, key, { try Handle(stored: $0) }) {
            verified.remove(old)
        }
        try transaction.put(keyspace, key, Handle(counters.value.nextHandle).storedBytes)
        return bindNewHandle(to: key)
    }

    /// Returns the new handle that the entry under `key` was just given.
    private func bindNewHandle(to key: [UInt8]) -> Handle {
        state.value.newPages.add(key.count + 8)
        state.value.edited.append(key)
        let handle = states.makeHandle()
        verified.insert(handle)
        return handle
    }
}

/// Handles that the index is known to return for the identifier of their record.
///
/// To write a stored tree again, `TreeWriter` follows stored references: the children of a stored
/// record are nearly always the handles that the index has for the children of the same model.
/// Looking each of them up would be the main cost of such a write. The reference alone proves
/// nothing: a delete or damage may have removed the index entry of a record whose bytes are still
/// there. A handle in this cache needs no look-up.
///
/// Entries are valid as long as no other process writes. Code that removes or changes an index
/// entry removes the handle here. Of two handles with the same slot, the later one is kept. The
/// handles of a tree are consecutive and do not share slots.
///
/// `@unchecked Sendable` because it is confined to the thread that commits, which `Confined`
/// checks.
final class VerifiedIndexEntries: @unchecked Sendable {
    private static let slotCount: UInt64 = 32_768

    /// One slot for each value of the low bits of a handle. It holds the high bits plus 1; 0 means
    /// none. The array is empty until the first insertion.
    private let slots = Confined<[UInt32]>([])

    func contains(_ handle: Handle) -> Bool {
        guard !slots.value.isEmpty, let mark = Self.mark(of: handle) else { return false }
        return slots.value[Self.slot(of: handle)] == mark
    }

    func insert(_ handle: Handle) {
        guard let mark = Self.mark(of: handle) else { return }
        if slots.value.isEmpty {
            slots.value = Array(repeating: 0, count: Int(Self.slotCount))
        }
        slots.value[Self.slot(of: handle)] = mark
    }

    func remove(_ handle: Handle) {
        if contains(handle) { slots.value[Self.slot(of: handle)] = 0 }
    }

    func removeAll() { slots.value = [] }

    /// Makes the calling thread the owner. `WriterThread.turn` orders the accesses.
    func transferToCurrentThread() { slots.transferToCurrentThread() }

    private static func slot(of handle: Handle) -> Int { Int(handle.rawValue % slotCount) }

    private static func mark(of handle: Handle) -> UInt32? {
        UInt32(exactly: handle.rawValue / slotCount + 1)
    }
}

extension ReadableTransaction where Self: ~Copyable {
    /// Returns the handle of an identifier; nil if there is none. Damage throws a `FormatError`.
    package func handle(
        _ keyspaces: Keyspaces, _ nameSpace: NameSpace, _ identifier: String
    ) throws -> Handle? {
        try withValue(keyspaces.index, keyspaces.indexKey(nameSpace, identifier)) {
            try Handle(stored: $0)
        }
    }

    /// Returns whether an index entry leads to `handle`. Walks the index.
    func isInIndex(_ keyspaces: Keyspaces, _ handle: Handle) throws -> Bool {
        var isFound = false
        try forEach(in: keyspaces.index) { _, value in
            isFound = (try? Handle(stored: value)) == handle
            return !isFound
        }
        return isFound
    }
}
