/// One value that decodes itself: the `Decoder` its `init(from:)` receives, behind all of its containers.
///
/// Users can keep decoders and containers; the bytes they read are lent. So the bytes are reached through the frame only, which
/// gives them up when the value's initialiser has returned and throws from then on.
final class DecodingFrame {
    /// The fields: a model's from the start, an inline value's once it asks for a keyed container.
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
    private let parent: DecodingFrame?
    private let key: BridgeKey?
    private var currentKey: BridgeKey?

    init(fields record: consuming RecordDecoder) {
        let enclosing = record.shape == nil ? record.values.assembly.bridge.enclosing : nil
        self.record = consume record
        isModel = true
        root = nil
        level = 0
        parent = enclosing
        key = enclosing?.currentKey
    }

    init(value: consuming ValueDecoder) {
        let enclosing = value.assembly.bridge.enclosing
        self.value = consume value
        isModel = false
        root = nil
        level = 0
        parent = enclosing
        key = enclosing?.currentKey
    }

    init(nestedIn parent: DecodingFrame, key: BridgeKey, value: consuming ValueDecoder?) throws {
        try parent.assembly?.allow(levels: parent.level + 1)
        self.value = consume value
        isModel = false
        root = parent.root ?? parent
        level = parent.level + 1
        self.parent = parent
        self.key = key
    }

    var codingPath: [any CodingKey] {
        (parent?.codingPath ?? []) + (key.map { [$0] } ?? [])
    }

    private var assembly: Assembly? {
        if record != nil { return record!.values.assembly }
        guard value != nil else { return nil }
        return value!.fork().assembly
    }

    @inline(__always)
    var isOpen: Bool { !isClosed && root?.isClosed != true }

    // MARK: Ending

    /// The record's decoder, back where reading went on to; the frame is closed.
    func finish() -> RecordDecoder {
        isClosed = true
        // Only `close` and this take it, once.
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

    /// Runs `body`, which calls no code of users, on the fields.
    @inline(__always)
    func fields<R: ~Copyable>(
        _ name: String, _ type: Any.Type, _ body: (inout RecordDecoder) throws -> R
    ) throws -> R {
        guard record != nil, isOpen else { throw closed() }
        do {
            return try body(&record!)
        } catch {
            throw thrown(error, at: BridgeKey(name), as: type)
        }
    }

    /// Looks at the field `name` without moving on; nil when there is none.
    func look<R: ~Copyable>(at name: String, _ body: (inout ValueDecoder) throws -> R) throws -> R? {
        try fields(name, Any.self) { (record: inout RecordDecoder) throws -> R? in
            let place = record.place
            defer { record.place = place }
            guard try record.seek(name) else { return nil }
            return try body(&record.values)
        }
    }

    /// Decodes the field `name` by the strategy of its type.
    func field<Value>(_ type: Value.Type, _ name: String) throws -> Value {
        guard record != nil, isOpen else { throw closed() }
        let bridge = record!.values.assembly.bridge
        let strategy = bridge.strategy(for: type)
        let before = record!.place
        do {
            guard try record!.seek(name) else { return try missing(strategy) }
            return try present(strategy, name, bridge)
        } catch {
            record?.place = before
            throw thrown(error, at: BridgeKey(name), as: type) { $0.inside(field: name) }
        }
    }

    // Out of line: the metadata of an optional of a generic type costs a look-up where it is mentioned.
    @inline(never)
    private func missing<Value>(_ strategy: DecodingStrategy<Value>) throws -> Value {
        guard let value = strategy.valueWhenMissing else { throw AssemblyFailure(.missing) }
        return value
    }

    /// The same; nil where the record lacks the field, or has nil there or a reference that is left out.
    func fieldIfPresent<Value>(_ type: Value.Type, _ name: String) throws -> Value? {
        guard record != nil, isOpen else { throw closed() }
        let bridge = record!.values.assembly.bridge
        let before = record!.place
        do {
            guard try record!.seek(name) else { return nil }
            let start = record!.place
            if try record!.values.decodeNull() {
                let end = record!.place.position
                record!.place = start.passed(to: end)
                return nil
            }
            do {
                return try present(bridge.strategy(for: type), name, bridge)
            } catch let failure as AssemblyFailure where failure.leavesOut {
                record?.place = start
                try record?.values.skipValue()
                if let end = record?.place.position { record?.place = start.passed(to: end) }
                return nil
            }
        } catch {
            record?.place = before
            throw thrown(error, at: BridgeKey(name), as: type) { $0.inside(field: name) }
        }
    }

    @inline(__always)
    private func present<Value>(
        _ strategy: DecodingStrategy<Value>, _ name: String, _ bridge: DecodingBridge
    ) throws -> Value {
        let start = record!.place
        // A copy, because users' code runs meanwhile, which could get at this frame.
        var values = record!.values.fork()
        let value = try decode(strategy, from: &values, at: BridgeKey(name), bridge)
        record?.place = start.passed(to: values.reader.position)
        return value
    }

    @inline(__always)
    private func decode<Value>(
        _ strategy: DecodingStrategy<Value>, from values: inout ValueDecoder, at key: @autoclosure () -> BridgeKey?,
        _ bridge: DecodingBridge
    ) throws -> Value {
        guard strategy.needsPath else { return try strategy.decode(from: &values) }
        let enclosing = bridge.enclosing
        currentKey = key()
        bridge.enclosing = self
        defer { bridge.enclosing = enclosing }
        return try strategy.decode(from: &values)
    }

    // MARK: The value

    /// The inline value, from its start; nil when there is none. A model's is the field that holds it as a whole.
    func wholeValue() throws -> ValueDecoder? {
        guard isOpen else { throw closed() }
        if isModel { return try look(at: BridgeKey.wholeValue) { $0.fork() } }
        guard value != nil else { return nil }
        return value!.fork()
    }

    /// The value's first byte; nil when there is no value.
    func wholeTag() throws -> UInt8? {
        guard let values = try wholeValue() else { return nil }
        return try values.reader.peek()
    }

    /// Decodes the value as a whole; nil when there is none.
    func whole<R>(_ type: Any.Type, _ body: (inout ValueDecoder) throws -> R) throws -> R? {
        guard var values = try wholeValue() else { return nil }
        do {
            let result = try body(&values)
            end = values.reader.position
            return result
        } catch {
            throw thrown(error, at: nil, as: type)
        }
    }

    func whole<Value>(_ type: Value.Type) throws -> Value? {
        try whole(type) { values in
            let bridge = values.assembly.bridge
            return try decode(bridge.strategy(for: type), from: &values, at: nil, bridge)
        }
    }

    /// A decoder at `position`, which lies inside of the value.
    func values(at position: Int) throws -> ValueDecoder {
        guard var values = try wholeValue() else { throw closed() }
        values.reader.position = position
        return values
    }

    func element<Value>(_ type: Value.Type, _ values: inout ValueDecoder, _ index: Int) throws -> Value {
        let bridge = values.assembly.bridge
        return try decode(bridge.strategy(for: type), from: &values, at: BridgeKey(index: index), bridge)
    }

    /// Makes the value's fields readable, if it has fields.
    func beginFields() throws {
        guard isOpen else { throw closed() }
        guard record == nil else { return }
        guard var values = try wholeValue() else { throw missing([String: Any].self) }
        guard let count = try values.reader.takeMapCount() else {
            throw mismatch("a keyed container", [String: Any].self, values)
        }
        record = RecordDecoder(inline: values, count: count)
    }

    /// The same decoder for a wrapper of this value, one level down.
    func nested<R>(_ body: () throws -> R) throws -> R {
        guard isOpen, let assembly else { throw closed() }
        return try assembly.nested(body)
    }

    func fieldNames() -> [String] {
        guard record != nil, isOpen, let names = try? record!.fieldNames() else { return [] }
        return names.filter { (try? look(at: $0) { _ in true }) == true }
    }
}
