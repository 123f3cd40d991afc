import EspalierInspection
import EspalierLMDB
import EspalierRecords

@testable import EspalierStore

/// Direct access to the stored entries, to inspect and to damage them.
extension NormalizedCache {
    var generation: Generation { get throws { try engine.generations.current() } }

    /// Commits the changes of `body` without the engine's knowledge, as if the process had started
    /// after them: blocks in memory are as good as before.
    func tamper(_ body: (inout WriteTransaction, Keyspaces) throws -> Void) throws {
        try engine.queue.waitForEarlierWrites()
        let generation = try generation
        try generation.environment.write { try body(&$0, generation.keyspaces) }
        generation.blocks.removeAll()
    }

    func readStorage<R>(_ body: (borrowing ReadTransaction, Keyspaces) throws -> R) throws -> R {
        try engine.queue.waitForEarlierWrites()
        return try engine.withTransaction { try body($0, $1.keyspaces) }
    }

    func handle(_ identifier: String, in nameSpace: NameSpace = .node) throws -> Handle? {
        try inspect { try $0.handle(of: identifier, in: nameSpace) }
    }

    /// Returns the state entry of a record, or the default state if it has none.
    func state(_ identifier: String, in nameSpace: NameSpace = .node) throws -> StateEntry {
        let handle = try present(try handle(identifier, in: nameSpace))
        return try state(handle)
    }

    func state(_ handle: Handle) throws -> StateEntry {
        try readStorage { try $0.state($1, of: handle) ?? .default }
    }

    /// Stores a state without the engine's knowledge.
    func tamper(withState state: StateEntry, of handle: Handle) throws {
        try tamper { try $0.put(state, of: handle, $1) }
    }

    func record(_ handle: Handle) throws -> Record? {
        try inspect { inspection in
            guard case .record(let record) = try inspection.record(handle) else { return nil }
            return record
        }
    }

    /// Flips a bit in the middle of a stored record.
    func damage(_ identifier: String, in nameSpace: NameSpace = .node) throws {
        try damage(present(handle(identifier, in: nameSpace)))
    }

    func damage(_ handle: Handle) throws {
        try tamperWithFrame(of: handle) { frame in
            guard let count = frame?.count else { throw Missing() }
            frame?[count / 2] ^= 0x10
        }
    }

    enum DamagedPart: CaseIterable { case frame, directory }

    /// Flips a bit in the frame in which a record stands, or in the directory of its container.
    /// Returns the handles of all records that this damages.
    @discardableResult
    func damage(_ part: DamagedPart, around handle: Handle) throws -> Set<Handle> {
        let generation = try generation
        var damaged: Set<Handle> = []
        try tamper { transaction, keyspaces in
            let container = try transaction.container(around: handle, keyspaces)
            let key = container.key.rawValue
            guard let frame = container.frames.last(where: { $0.first <= handle }),
                var bytes = try transaction.value(keyspaces.nodes, key)
            else { throw Missing() }
            let stored = try StoredRecords(transaction.snapshot, generation)
            for other in container.frames where part == .directory || other.first == frame.first {
                damaged.formUnion(try stored.block(around: other.first)?.handles ?? [])
            }
            let behind = container.frames.reduce(0) {
                $0 + ($1.first > frame.first ? $1.bytes.count : 0)
            }
            bytes[part == .directory ? 2 : bytes.count - behind - frame.bytes.count / 2] ^= 0x10
            try transaction.put(keyspaces.nodes, key, bytes)
        }
        return damaged
    }

    /// Removes the bytes of a record, and nothing else.
    func removeBytes(of handle: Handle) throws {
        try tamperWithFrame(of: handle) { $0 = nil }
    }

    /// Puts a record into the place of another one.
    func replaceRecord(
        _ handle: Handle, by record: [UInt8], _ shape: RecordLayout.ShapeReference = .none
    ) throws {
        try tamperWithFrame(of: handle) { $0 = rawFrame([(handle, record, shape)]) }
    }

    /// Commits a change of the frame of a record, which is put into a frame of its own before, so
    /// that the change has no effect on the records beside it. The frame of a long record is its
    /// first chunk.
    func tamperWithFrame(of handle: Handle, _ body: (inout [UInt8]?) throws -> Void) throws {
        let generation = try generation
        try tamper { transaction, keyspaces in
            let first = ChunkKey(handle.rawValue, 0)
            if var chunk = try transaction.value(keyspaces.long, first) {
                var changed: [UInt8]? = chunk
                try body(&changed)
                guard let changed else { return _ = try transaction.delete(keyspaces.long, first) }
                chunk = changed
                return try transaction.put(keyspaces.long, first, chunk)
            }
            try transaction.isolate(handle, in: generation)
            let container = try transaction.container(around: handle, keyspaces)
            var frame: [UInt8]? = container.frames.first { $0.first == handle }?.bytes
            try body(&frame)
            let frames = container.frames.compactMap { old in
                old.first == handle ? frame.map { (old.first, old.count, $0) } : old
            }
            try transaction.store(frames, over: container.key, keyspaces)
        }
    }
}

/// Returns a frame of records that are not compressed.
func rawFrame(
    _ records: [(handle: Handle, bytes: [UInt8], shape: RecordLayout.ShapeReference)]
) -> [UInt8] {
    let buffers = records.map { RecordBuffer($0.bytes) }
    let block = zip(records, buffers).map { record, buffer in
        BlockRecord(
            handle: record.handle, bytes: buffer.reader, shape: BlockShape(record.shape))
    }
    return withExtendedLifetime(buffers) { rawFrame(block) }
}

func rawFrame(_ records: [BlockRecord]) -> [UInt8] {
    var block = ByteWriter()
    RecordBlock.write(records[...], to: &block)
    var frame = ByteWriter()
    frame.append(varint: 0)
    frame.append(block)
    frame.append(integer: block.check(seed: RecordLayout.seed(handle: records[0].handle)))
    return frame.bytes
}

extension WriteTransaction {
    typealias StoredFrame = (first: Handle, count: Int, bytes: [UInt8])

    /// Returns the container in which a record stands, with copies of its frames.
    borrowing func container(
        around handle: Handle, _ keyspaces: Keyspaces
    ) throws -> (key: Handle, frames: [StoredFrame]) {
        try withCursor(keyspaces.nodes) { cursor in
            guard try cursor.seek(atOrBefore: handle.rawValue) else { throw Missing() }
            return try cursor.withEntry { key, value in
                let value = ByteReader(lent: value)
                let key = try Handle(stored: key)
                let frames = try Container(reading: value, key: key).entries.map { entry in
                    var frame = value.slice(entry.range)
                    return (entry.first, entry.count, try frame.bytes(count: frame.end))
                }
                return (key, frames)
            }
        }
    }

    /// Gives a record a frame of its own, without compression.
    mutating func isolate(_ handle: Handle, in generation: Generation) throws {
        let keyspaces = generation.keyspaces
        let old = try container(around: handle, keyspaces)
        guard !old.frames.contains(where: { $0.first == handle && $0.count == 1 }) else { return }
        let stored = try StoredRecords(snapshot, generation)
        guard let block = try stored.block(around: handle), let index = block.index(of: handle)
        else { throw Missing() }
        var records: [BlockRecord] = []
        for index in 0..<block.count { records.append(try block.blockRecord(at: index)) }
        let parts = [records[..<index], records[index...index], records[(index + 1)...]]
            .filter { !$0.isEmpty }.map(Array.init)
        let container = try container(around: handle, keyspaces)
        let frames = container.frames.flatMap { frame in
            frame.first == block.first
                ? parts.map { ($0[0].handle, $0.count, rawFrame($0)) } : [frame]
        }
        withExtendedLifetime(block) {}
        try store(frames, over: container.key, keyspaces)
    }

    /// Stores frames in place of a container: in one, or each in one of its own. Adjusts the
    /// counter of bytes, and of the frames that use dictionaries.
    mutating func store(
        _ frames: [StoredFrame], over key: Handle, _ keyspaces: Keyspaces
    ) throws {
        var counters = try counters(keyspaces)
        var dictionaries = try DictionaryTable(loading: self, keyspaces)
        func count(_ container: [UInt8], _ key: Handle, isAdded: Bool) throws {
            try ByteReader.reading(container) { value in
                for entry in try Container(reading: value, key: key).entries {
                    var frame = value.slice(entry.range)
                    guard let number = try? frame.varint() else { continue }
                    if isAdded { dictionaries.retain(number) } else { dictionaries.release(number) }
                }
            }
        }
        if let old = try value(keyspaces.nodes, key.rawValue) {
            counters.recordBytes -= UInt64(old.count)
            try? count(old, key, isAdded: false)
        }
        try delete(keyspaces.nodes, key.rawValue)
        let size = frames.reduce(0) { $0 + $1.bytes.count + 16 }
        let groups = size < 4_000 ? [frames] : frames.map { [$0] }
        for (index, group) in groups.enumerated() where !group.isEmpty {
            let key = index == 0 ? key : group[0].first
            let buffers = group.map { RecordBuffer($0.bytes) }
            var writer = ByteWriter()
            let parts = zip(group, buffers).map { frame, buffer in
                Container.Frame(first: frame.first, count: frame.count, bytes: buffer.reader)
            }
            withExtendedLifetime(buffers) { Container.write(parts[...], key: key, to: &writer) }
            try put(keyspaces.nodes, key.rawValue, writer.bytes)
            counters.recordBytes += UInt64(writer.count)
            try? count(writer.bytes, key, isAdded: true)
        }
        try put(keyspaces.info, Counters.key, counters.bytes)
        if try value(keyspaces.info, DictionaryTable.key) != nil {
            try put(keyspaces.info, DictionaryTable.key, dictionaries.bytes)
        }
    }
}

/// The error when an entry is missing that a test expects.
struct Missing: Error {}

func present(_ handle: Handle?) throws -> Handle {
    guard let handle else { throw Missing() }
    return handle
}

extension StateGroup {
    mutating func set(_ state: StateEntry?, of handle: Handle) {
        apply([StateChange(handle: handle, state: state)])
    }
}

extension WriteTransaction {
    /// Lists a record in `recency` under another stamp; nil for none.
    mutating func move(
        _ handle: Handle, from old: Stamp? = nil, to new: Stamp? = nil, _ keyspaces: Keyspaces
    ) throws {
        try Recency(keyspaces).apply(
            [Recency.Move(handle: handle, from: old, to: new)], in: &self)
    }

    /// Stores the state of a record, even the default; nil removes it.
    mutating func put(_ state: StateEntry?, of handle: Handle, _ keyspaces: Keyspaces) throws {
        let range = try stateRange(keyspaces, around: handle)
        guard var group = range.group else { throw Missing() }
        group.set(state, of: handle)
        if !group.entries.isEmpty {
            try put(keyspaces.state, group.key.rawValue, group.bytes)
        } else if range.isStored {
            try delete(keyspaces.state, group.key.rawValue)
        }
    }
}
