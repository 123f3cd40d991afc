import EspalierLMDB
import EspalierRecords

/// What a name leads to without optimistic changes.
struct ConfirmedRecord: Equatable, Sendable {
    /// The fields of a node, the value of a key, or all elements of a collection as one array.
    struct Content: Equatable, Sendable {
        var shape = Shape.none
        var children: [Handle]
        var values: [UInt8]
    }

    /// Nil if there is no record.
    var content: Content?
    var writtenAt: WriteTime?
    var maxAge: UInt64?
}

/// The `layers` keyspace as one transaction changes it: optimistic changes, and the records to
/// which they apply as they would be without. The keyspace also has the operations of outboxes.
///
///     key = 1, number of the layer (8 bytes), part (2 bytes)     value = part of a `Layer`
///     key = 2, handle (8 bytes), part (2 bytes)                  value = part of a record
///     key = 3, number of an operation (8 bytes), part (2 bytes)  value = part of an `OutboxEntry`
///     record = name space (byte), name, flags (byte), [shape, count, children, values],
///              [written-at], [maximum age]
///
/// The parts of an entry are as long as a page allows, and the last ends with a check of all bytes.
/// The record itself, in `nodes`, always has the layers applied: a read costs the same with layers
/// as without. Each record under layers has one reference more, as with a pin, and so have the
/// children of what is stored here: eviction reaches none of them.
///
/// A value, so that a failed transaction leaves the table of the last commit as it was.
struct LayerTable: Sendable {
    struct LayeredRecord: Sendable {
        var handle: Handle
        var confirmed: ConfirmedRecord
        /// The numbers of the layers that write the record, ascending.
        var layers: [UInt64] = []
    }

    private let keyspace: Keyspace
    private let valueLimit: Int
    private(set) var layers: [UInt64: Layer] = [:]
    private(set) var records: [RecordName: LayeredRecord] = [:]
    /// The operations of all outboxes, by number.
    private(set) var operations: [UInt64: OutboxEntry] = [:]
    private var operationNumbers: [OutboxName: UInt64] = [:]
    private var handles: Set<Handle> = []
    /// The bytes of all entries.
    private(set) var byteCount = 0
    /// Whether an entry could not be read: the records have to be put together anew.
    private(set) var isDamaged = false
    /// How many layers and operations could not be read.
    private(set) var lost = LostChanges()

    /// Whether no record has layers.
    var isEmpty: Bool { layers.isEmpty && records.isEmpty && !isDamaged }

    /// Loads the table.
    ///
    /// - Parameter first: The first kind of entries to load, in the order of the keys. A table
    ///   without layers serves to look up operations.
    init(
        _ keyspaces: Keyspaces, _ transaction: borrowing some ReadableTransaction & ~Copyable,
        valueLimit: Int, from first: EntryKey.Kind = .layer
    ) throws {
        keyspace = keyspaces.layers
        self.valueLimit = valueLimit
        guard try transaction.statistics(of: keyspace).entries > 0 else { return }
        var key: EntryKey?
        var bytes: [UInt8] = []
        var entries: [(EntryKey, [UInt8])] = []
        var damagedKeys = 0
        // From the first key of the keyspace: damaged keys below the first kind are counted.
        let start = first == .layer ? [0] : EntryKey(first, 0).bytes(part: 0)
        try transaction.forEach(in: keyspace, from: start) { stored, value in
            guard let next = EntryKey(stored) else {
                damagedKeys += 1
                return true
            }
            if let key, next != key {
                entries.append((key, bytes))
                bytes = []
            }
            key = next
            bytes += try ByteReader.reading(value) { try $0.bytes(count: $0.end) }
            return true
        }
        if let key { entries.append((key, bytes)) }
        for (key, bytes) in entries { load(key, bytes) }
        if damagedKeys > 0 {
            isDamaged = true
            // The key of a later part fails the check of its entry, which is counted then. What the
            // others were is not known.
            if lost == LostChanges() { lost.layers = damagedKeys }
        }
        link()
    }

    private mutating func load(_ key: EntryKey, _ bytes: [UInt8]) {
        byteCount += bytes.count
        do {
            try ByteReader.reading(bytes) { reader in
                let end = try reader.verifiedEnd(seed: key.number)
                reader = reader.limited(to: end)
                switch key.kind {
                case .layer:
                    layers[key.number] = try Layer(number: key.number, reading: &reader)
                case .record:
                    let name = try RecordName(reading: &reader)
                    records[name] = LayeredRecord(
                        handle: Handle(key.number), confirmed: try ConfirmedRecord(reading: &reader)
                    )
                case .operation:
                    let entry = try OutboxEntry(number: key.number, reading: &reader)
                    operations[key.number] = entry
                    operationNumbers[entry.name] = key.number
                }
            }
        } catch {
            isDamaged = true
            if key.kind == .layer { lost.layers += 1 }
            if key.kind == .operation { lost.operations += 1 }
        }
    }

    private mutating func link() {
        for layer in layers.values.sorted(by: { $0.number < $1.number }) {
            for name in layer.names {
                if records[name] == nil { isDamaged = true }
                records[name]?.layers.append(layer.number)
            }
        }
        handles = Set(records.values.map(\.handle))
    }

    // MARK: Looking up

    /// Whether a layer applies to a record.
    func hasLayers(_ handle: Handle) -> Bool { handles.contains(handle) }

    /// Whether layers apply to a node of a tree.
    func hasLayers(ofNodesIn tree: FlattenedTree) -> Bool {
        !records.isEmpty
            && tree.entries.contains { records[RecordName(.node, $0.identifier)] != nil }
    }

    /// The handles to which the table adds a reference, with repetitions.
    var retainedHandles: [Handle] {
        records.values.flatMap { [$0.handle] + ($0.confirmed.content?.children ?? []) }
    }

    func layer(_ identifier: String) -> Layer? {
        let identifier = Identifier(identifier)
        return layers.values.first { $0.identifier == identifier }
    }

    /// Returns the layers that apply to one of `names`, in their order.
    func layers(of names: Set<RecordName>) -> [Layer] {
        let numbers = names.reduce(into: Set<UInt64>()) { numbers, name in
            numbers.formUnion(records[name]?.layers ?? [])
        }
        return numbers.sorted().compactMap { layers[$0] }
    }

    var nextNumber: UInt64 { (layers.keys.max() ?? 0) + 1 }

    func operation(_ name: OutboxName) -> OutboxEntry? {
        operationNumbers[name].flatMap { operations[$0] }
    }

    /// The number of an operation that comes after all others.
    var nextOperation: UInt64 { (operations.keys.max() ?? 0) + 1 }

    // MARK: Changing

    mutating func insert(_ layer: Layer, in transaction: inout WriteTransaction) throws {
        var writer = ByteWriter()
        layer.append(to: &writer)
        layers[layer.number] = layer
        for name in layer.names { records[name]?.layers.append(layer.number) }
        try put(&writer, at: EntryKey(.layer, layer.number), in: &transaction)
    }

    mutating func remove(_ layer: Layer, in transaction: inout WriteTransaction) throws {
        layers[layer.number] = nil
        for name in layer.names { records[name]?.layers.removeAll { $0 == layer.number } }
        try delete(EntryKey(.layer, layer.number), in: &transaction)
    }

    /// Stores an operation of an outbox, or what has changed of it.
    mutating func set(_ entry: OutboxEntry, in transaction: inout WriteTransaction) throws {
        operations[entry.number] = entry
        operationNumbers[entry.name] = entry.number
        var writer = ByteWriter()
        entry.append(to: &writer)
        try put(&writer, at: EntryKey(.operation, entry.number), in: &transaction)
    }

    mutating func remove(_ entry: OutboxEntry, in transaction: inout WriteTransaction) throws {
        operations[entry.number] = nil
        operationNumbers[entry.name] = nil
        try delete(EntryKey(.operation, entry.number), in: &transaction)
    }

    /// Stores what a name leads to without layers.
    mutating func set(
        _ confirmed: ConfirmedRecord, of name: RecordName, at handle: Handle,
        in transaction: inout WriteTransaction
    ) throws {
        if let old = records[name] {
            guard old.handle != handle || old.confirmed != confirmed else { return }
            if old.handle != handle {
                try delete(EntryKey(.record, old.handle.rawValue), in: &transaction)
                handles.remove(old.handle)
            }
        }
        records[name, default: LayeredRecord(handle: handle, confirmed: confirmed)].handle = handle
        records[name]?.confirmed = confirmed
        handles.insert(handle)
        var writer = ByteWriter()
        name.append(to: &writer)
        confirmed.append(to: &writer)
        try put(&writer, at: EntryKey(.record, handle.rawValue), in: &transaction)
    }

    /// Forgets a record to which no layer applies any more.
    mutating func removeRecord(
        _ name: RecordName, in transaction: inout WriteTransaction
    ) throws {
        guard let layered = records.removeValue(forKey: name) else { return }
        handles.remove(layered.handle)
        try delete(EntryKey(.record, layered.handle.rawValue), in: &transaction)
    }

    /// Removes all entries, and writes those again that can be read.
    mutating func rewrite(in transaction: inout WriteTransaction) throws {
        var keys: [[UInt8]] = []
        try transaction.forEach(in: keyspace) { key, _ in
            keys.append([UInt8](copying: key))
            return true
        }
        for key in keys { try transaction.delete(keyspace, key) }
        byteCount = 0
        isDamaged = false
        lost = LostChanges()
        let known = (layers, records)
        (layers, records) = ([:], [:])
        for (name, layered) in known.1 {
            try set(layered.confirmed, of: name, at: layered.handle, in: &transaction)
        }
        // In their order, because records list them so.
        for layer in known.0.values.sorted(by: { $0.number < $1.number }) {
            try insert(layer, in: &transaction)
        }
        for entry in operations.values { try set(entry, in: &transaction) }
    }

    private mutating func put(
        _ writer: inout ByteWriter, at key: EntryKey, in transaction: inout WriteTransaction
    ) throws {
        try delete(key, in: &transaction)
        writer.append(integer: writer.check(seed: key.number))
        let bytes = writer.bytes
        // A page holds a part and its key.
        let size = valueLimit - 32
        guard bytes.count / size < UInt16.max else {
            throw CacheError(
                .optimisticFull, "A change or operation of \(ByteCount(bytes.count)) is too long.")
        }
        byteCount += bytes.count
        for (part, start) in stride(from: 0, to: bytes.count, by: size).enumerated() {
            let end = min(bytes.count, start + size)
            try transaction.put(keyspace, key.bytes(part: part), Array(bytes[start..<end]))
        }
    }

    private mutating func delete(
        _ key: EntryKey, in transaction: inout WriteTransaction
    ) throws {
        var part = 0
        while let value = try transaction.value(keyspace, key.bytes(part: part)) {
            byteCount -= value.count
            try transaction.delete(keyspace, key.bytes(part: part))
            part += 1
        }
    }
}

/// The key of an entry in `layers`, without the number of a part.
struct EntryKey: Hashable {
    enum Kind: UInt8 {
        case layer = 1
        case record = 2
        case operation = 3
    }

    let kind: Kind
    let number: UInt64

    init(_ kind: Kind, _ number: UInt64) {
        self.kind = kind
        self.number = number
    }

    init?(_ stored: RawSpan) {
        let parsed = try? ByteReader.reading(stored) { reader in
            (try reader.byte(), try reader.integer(UInt64.self), try reader.integer(UInt16.self))
        }
        guard let parsed, let kind = Kind(rawValue: parsed.0) else { return nil }
        self.init(kind, parsed.1)
    }

    func bytes(part: Int) -> [UInt8] {
        var writer = ByteWriter(capacity: 11)
        writer.append(kind.rawValue)
        writer.append(integer: number)
        writer.append(integer: UInt16(truncatingIfNeeded: part))
        return writer.bytes
    }
}

extension ConfirmedRecord {
    private static let hasContent: UInt8 = 1

    func append(to writer: inout ByteWriter) {
        writer.append(content == nil ? 0 : Self.hasContent)
        if let content {
            writer.append(content.shape.description)
            writer.append(count: content.children.count)
            for child in content.children { writer.append(varint: child.rawValue) }
            writer.append(count: content.values.count)
            writer.append(content.values)
        }
        writer.append(age: writtenAt?.rawValue)
        writer.append(age: maxAge)
    }

    init(reading reader: inout ByteReader) throws(FormatError) {
        if try reader.byte() == Self.hasContent {
            let shape = try Shape.read(from: &reader)
            var children: [Handle] = []
            for _ in 0..<(try reader.count()) { children.append(Handle(try reader.varint())) }
            let values = try reader.bytes(count: reader.count())
            content = Content(shape: shape, children: children, values: values)
        }
        writtenAt = try reader.age().map(WriteTime.init)
        maxAge = try reader.age()
    }
}

/// How many layers and operations of outboxes could not be read.
struct LostChanges: Hashable, Sendable {
    var layers = 0
    var operations = 0
}
