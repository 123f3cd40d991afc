/// One value that decodes itself: the `Decoder` its `init(from:)` receives, behind all of its
/// containers.
///
/// Users can keep decoders and containers; the bytes they read are lent. So the bytes are reached
/// through the frame only, which gives them up when the value's initialiser has returned and throws
/// from then on.
final class DecodingFrame: BridgeFrame {
    /// The fields: a model's from the start, an inline value's once it asks for a keyed container.
    /// Taken out while one of them is read, because that may run users' code, which may get at this
    /// frame.
    private var record: RecordDecoder?
    /// An inline value, at its start. Nil for a model and for a value that is not there.
    private var value: ValueDecoder?
    let isModel: Bool
    /// Where the value was found to end.
    private var end: Int?
    private var isClosed = false

    /// For the frame of a nested container: the one that lends it the bytes.
    private let root: DecodingFrame?
    private let level: Int
    /// Where the value stands, for `codingPath`.
    let parent: DecodingFrame?
    let key: BridgeKey?
    private var currentKey: BridgeKey?

    /// A model's.
    init(fields record: consuming RecordDecoder) {
        let enclosing = record.shape == nil ? record.values.treeReader.bridge.enclosing : nil
        self.record = consume record
        isModel = true
        root = nil
        level = 0
        parent = enclosing
        key = enclosing?.currentKey
    }

    /// An inline value's.
    init(value: consuming ValueDecoder) {
        let enclosing = value.treeReader.bridge.enclosing
        self.value = consume value
        isModel = false
        root = nil
        level = 0
        parent = enclosing
        key = enclosing?.currentKey
    }

    /// A nested container's or super decoder's, at `value`.
    init(nestedIn parent: DecodingFrame, key: BridgeKey, value: consuming ValueDecoder) throws {
        try value.treeReader.allow(levels: parent.level + 1)
        self.value = consume value
        isModel = false
        root = parent.root ?? parent
        level = parent.level + 1
        self.parent = parent
        self.key = key
    }

    /// A super decoder's, of a value that is not there.
    init(nothingIn parent: DecodingFrame, key: BridgeKey) {
        isModel = false
        root = parent.root ?? parent
        level = parent.level + 1
        self.parent = parent
        self.key = key
    }

    var isNested: Bool { root != nil }

    @inline(__always)
    var isOpen: Bool { !isClosed && root?.isClosed != true }

    // MARK: Ending

    /// The record's decoder, back where reading went on to; the frame is closed.
    func finish() -> RecordDecoder {
        isClosed = true
        // Whoever takes it puts it back, and only this closes a model's frame.
        return record.take()!
    }

    func close() {
        isClosed = true
        record = nil
        value = nil
    }

    /// Where the inline value ends.
    func endOfValue() throws -> Int {
        if let end = record?.endPosition ?? end { return end }
        guard var reader = value?.reader else { throw closed() }
        try reader.skipValue()
        return reader.position
    }

    // MARK: Fields

    /// Runs `body` on the fields.
    @inline(__always)
    func fields<R: ~Copyable>(
        _ name: String, _ type: Any.Type, _ body: (inout RecordDecoder) throws -> R
    ) throws -> R {
        guard root?.isClosed != true, var record = record.take() else { throw closed() }
        do {
            let result = try body(&record)
            self.record = consume record
            return result
        } catch {
            let failure = record.values.treeReader.noted(error)
            self.record = consume record
            throw thrown(failure, at: BridgeKey(name), as: type)
        }
    }

    /// Looks at the field `name` without moving on; nil when there is none.
    func look<R: ~Copyable>(at name: String, _ body: (inout ValueDecoder) throws -> R) throws -> R?
    {
        try fields(name, Any.self) { (record: inout RecordDecoder) throws -> R? in
            let place = record.place
            defer { record.place = place }
            guard try record.seek(name) else { return nil }
            return try body(&record.values)
        }
    }

    func fieldNames() -> [String] {
        let names = try? fields("", Any.self) { try $0.fieldNames() }
        return (names ?? []).filter { (try? look(at: $0) { _ in true }) == true }
    }

    /// Makes the value's fields readable, if it has fields.
    func beginFields() throws {
        guard !isModel, record == nil else { return }
        guard var values = try wholeValue() else { throw missing([String: Any].self) }
        guard let count = try values.reader.takeMapCount() else {
            throw mismatch("a keyed container", [String: Any].self, values)
        }
        record = RecordDecoder(inline: values, count: count)
    }

    // MARK: The value

    /// The inline value, from its start; nil when there is none. A model's is the field that holds
    /// it as a whole.
    func wholeValue() throws -> ValueDecoder? {
        guard isOpen else { throw closed() }
        if isModel { return try look(at: BridgeKey.wholeValue) { $0.fork() } }
        guard value != nil else { return nil }
        // Checked above: a value that can't be copied can't be bound to a name without leaving the
        // frame.
        return value!.fork()
    }

    /// Decodes the value as a whole; nil when there is none.
    func whole<R>(_ type: Any.Type, _ body: (inout ValueDecoder) throws -> R) throws -> R? {
        guard var values = try wholeValue() else { return nil }
        do {
            let result = try body(&values)
            end = values.reader.position
            return result
        } catch {
            throw thrown(values.treeReader.noted(error), at: nil, as: type)
        }
    }

    /// Makes this frame the one that new ones stand in, under `key`, while `body` runs.
    func enclosing<R>(_ key: BridgeKey?, _ bridge: DecodingBridge, _ body: () throws -> R) rethrows
        -> R
    {
        let outer = bridge.enclosing
        currentKey = key
        bridge.enclosing = self
        defer { bridge.enclosing = outer }
        return try body()
    }
}
