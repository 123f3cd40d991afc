import EspalierLMDB
package import EspalierRecords

/// An operation of an outbox as the file has it.
///
///     entry = outbox, id, key, when it was added (varint), attempts (count), flags (byte),
///             failure, payload, sections
///     flags = 1: the operation is a dead letter; 2: it has an optimistic change
///
/// All but the numbers are a count and as many bytes. The payload is the operation as JSON. The
/// sections are the writes of the optimistic change of a dead letter, which waits without it. They
/// are empty otherwise: the change is a layer.
package struct OutboxEntry: Sendable {
    /// Its place in the order of all outboxes.
    let number: UInt64
    /// The lineage of the generation from which it was read. Not stored.
    var lineage: [UInt8] = []
    /// The name of the outbox.
    package let outbox: Identifier
    /// The name of the operation, by which a server recognises one that it gets twice.
    package let id: Identifier
    /// Operations with the same key are sent one after the other.
    package let key: Identifier
    package let addedAt: WriteTime
    /// The operation as JSON.
    package let payload: [UInt8]
    /// How often it was sent in vain.
    package var attempts = 0
    package var isDead = false
    package var hasChange = false
    /// Why the last attempt has failed; empty if none has.
    package var failure = ""
    var sections: [UInt8] = []

    init(
        number: UInt64, _ draft: OutboxDraft, addedAt: WriteTime, hasChange: Bool
    ) {
        self.number = number
        outbox = draft.name.outbox
        id = draft.name.id
        key = draft.key
        payload = draft.payload
        self.addedAt = addedAt
        self.hasChange = hasChange
    }

    var name: OutboxName { OutboxName(outbox: outbox, id: id) }

    var identity: OutboxIdentity { OutboxIdentity(name: name, number: number, lineage: lineage) }

    func append(to writer: inout ByteWriter) {
        for name in [outbox, id, key] { writer.append(string: name.string) }
        writer.append(varint: addedAt.rawValue)
        writer.append(count: attempts)
        writer.append((isDead ? 1 : 0) | (hasChange ? 2 : 0))
        writer.append(string: failure)
        for bytes in [payload, sections] {
            writer.append(count: bytes.count)
            writer.append(bytes)
        }
    }

    init(number: UInt64, reading reader: inout ByteReader) throws(FormatError) {
        self.number = number
        outbox = Identifier(try reader.string(count: reader.count()))
        id = Identifier(try reader.string(count: reader.count()))
        key = Identifier(try reader.string(count: reader.count()))
        addedAt = WriteTime(try reader.varint())
        attempts = try reader.index(below: .max)
        let flags = try reader.byte()
        isDead = flags & 1 != 0
        hasChange = flags & 2 != 0
        failure = try reader.string(count: reader.count())
        payload = try reader.bytes(count: reader.count())
        sections = try reader.bytes(count: reader.count())
    }
}

/// The name of an operation: no two operations of an outbox have the same one.
struct OutboxName: Hashable, Sendable {
    let outbox: Identifier
    let id: Identifier

    init(outbox: Identifier, id: Identifier) {
        self.outbox = outbox
        self.id = id
    }

    init(_ outbox: String, _ id: String) {
        self.init(outbox: Identifier(outbox), id: Identifier(id))
    }

    /// The name of the operation's optimistic change. A slash in the name of the outbox is escaped,
    /// so that no two operations have the same.
    var change: String {
        let outbox = outbox.string.replacing("%", with: "%25").replacing("/", with: "%2F")
        return "\(Self.changedKey(outbox))/\(id.string)"
    }

    /// The key that change sets list when the outbox has changed.
    var changedKey: String { Self.changedKey(outbox.string) }

    static func changedKey(_ outbox: String) -> String { "outbox/\(outbox)" }
}

/// Tells an operation from all others: of the same name that are added after it is dropped, and of
/// the same number that are added after the cache was emptied.
struct OutboxIdentity: Hashable, Sendable {
    let name: OutboxName
    let number: UInt64
    let lineage: [UInt8]
}

/// An operation that is about to be added to an outbox.
struct OutboxDraft: Sendable {
    let name: OutboxName
    let key: Identifier
    let payload: [UInt8]
}

/// What a commit does to an outbox.
enum OutboxStep: Sendable {
    /// Adds an operation, with the writes of its optimistic change.
    case add(OutboxDraft, [BatchSection])
    /// Notes an attempt that has failed. After the last one the operation is a dead letter and its
    /// change is rolled back.
    case fail(OutboxIdentity, attempts: Int, String, isLast: Bool)
    /// Removes an operation that was sent, confirms its change, and makes writes over it or in its
    /// place.
    case finish(OutboxIdentity, [BatchSection], replacesChange: Bool)
    /// Lets a dead letter wait again, and applies its change again.
    case revive(OutboxName)
    /// Removes an operation, and rolls its change back.
    case drop(OutboxName)

    var sections: [BatchSection] {
        switch self {
        case .add(_, let sections), .finish(_, let sections, _): sections
        case .fail, .revive, .drop: []
        }
    }

    /// The bytes that the step holds in the queue.
    var byteCount: Int {
        let payload = if case .add(let draft, _) = self { draft.payload.count } else { 0 }
        return sections.reduce(64 + payload) { $0 + $1.tree.byteCount }
    }
}
