/// One value that decodes itself: the `Decoder` that its `init(from:)` receives, and the storage
/// behind all of its containers.
///
/// Users can keep decoders and containers, but the bytes that they read are lent. So containers
/// reach the bytes only through the frame, which gives them up when the value's initialiser has
/// returned and throws from then on.
final class DecodingFrame: BridgeFrame {
    // immutable
    let isModel: Bool
    /// The frame that lends its bytes to the frame of a nested container; nil for other frames.
    private let root: DecodingFrame?
    private let level: Int
    let parent: DecodingFrame?
    let key: BridgeKey?

    // confined to the thread that reads
    /// The fields: a model's from the start, an inline value's once it asks for a keyed container.
    /// Taken out while a field is read, because that may run users' code, which may use this frame.
    private var record: RecordDecoder?
    /// An inline value, at its start. Nil for a model and for a value that is not there.
    private var value: ValueDecoder?
    /// The position at which the value was found to end.
    private var end: Int?
    private var isClosed = false
    private var currentKey: BridgeKey?

    /// Makes the frame of a model.
    init(fields record: consuming RecordDecoder) {
        let enclosing = record.shape == nil ? record.values.treeReader.bridge.enclosing : nil
        self.record = consume record
        isModel = true
        root = nil
        level = 0
        parent = enclosing
        key = enclosing?.currentKey
    }

    /// Makes the frame of an inline value.
    init(value: consuming ValueDecoder) {
        let enclosing = value.treeReader.bridge.enclosing
        self.value = consume value
        isModel = false
        root = nil
        level = 0
        parent = enclosing
        key = enclosing?.currentKey
    }

    /// Makes the frame of a nested container or super decoder at `value`.
    init(nestedIn parent: DecodingFrame, key: BridgeKey, value: consuming ValueDecoder) throws {
        try value.treeReader.checkDepth(adding: parent.level + 1)
        self.value = consume value
        isModel = false
        root = parent.root ?? parent
        level = parent.level + 1
        self.parent = parent
        self.key = key
    }

    /// Makes the frame of a super decoder of a value that is not there.
    private init(nothingIn parent: DecodingFrame, key: BridgeKey) {
        isModel = false
        root = parent.root ?? parent
        level = parent.level + 1
        self.parent = parent
        self.key = key
    }

    private var isNested: Bool { root != nil }

    @inline(__always)
    private var isOpen: Bool { !isClosed && root?.isClosed != true }

    // MARK: Finishing

    /// Closes the frame and returns the record's decoder, which stands where reading goes on.
    func finish() -> RecordDecoder {
        isClosed = true
        // Every method that takes the record out puts it back, and only this one closes a model's
        // frame.
        return record.take()!
    }

    func close() {
        isClosed = true
        record = nil
        value = nil
    }

    /// Returns the position at which the inline value ends.
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
            let failure = record.values.treeReader.failureOrModelError(error)
            self.record = consume record
            throw thrown(failure, at: BridgeKey(name), as: type)
        }
    }

    /// Reads the field `name` without moving on; nil when there is none.
    func peek<R: ~Copyable>(at name: String, _ body: (inout ValueDecoder) throws -> R) throws -> R?
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
        return (names ?? []).filter { (try? peek(at: $0) { _ in true }) == true }
    }

    /// Makes the value's fields readable. Throws if it has no fields.
    private func beginFields() throws {
        guard !isModel, record == nil else { return }
        guard var values = try wholeValue() else { throw missing([String: Any].self) }
        guard let count = try values.reader.readMapCount() else {
            throw mismatch("a keyed container", [String: Any].self, values)
        }
        record = RecordDecoder(inline: values, count: count)
    }

    /// Returns the frame of the value in the field `name`, and moves past the field.
    func nested(field name: String) throws -> DecodingFrame {
        let key = BridgeKey(name)
        let nested = try fields(name, Any.self) { record -> DecodingFrame? in
            guard try record.seek(name) else { return nil }
            let start = record.place
            let frame = try DecodingFrame(nestedIn: self, key: key, value: record.values.fork())
            try record.values.skipValue()
            record.place = start.passed(to: record.place.position)
            return frame
        }
        return nested ?? DecodingFrame(nothingIn: self, key: key)
    }

    // MARK: The value as a whole

    /// Returns a decoder at the start of the inline value; nil when there is none. A model as a
    /// whole is the field `$value`.
    func wholeValue() throws -> ValueDecoder? {
        guard isOpen else { throw closed() }
        if isModel { return try peek(at: BridgeKey.wholeValue) { $0.fork() } }
        guard value != nil else { return nil }
        // Checked above: binding a value that can't be copied to a name would take it out of the
        // frame.
        return value!.fork()
    }

    /// Decodes the value as a whole; nil when there is none.
    private func whole<R>(_ type: Any.Type, _ body: (inout ValueDecoder) throws -> R) throws -> R? {
        guard var values = try wholeValue() else { return nil }
        do {
            let result = try body(&values)
            end = values.reader.position
            return result
        } catch {
            throw thrown(values.treeReader.failureOrModelError(error), at: nil, as: type)
        }
    }

    // MARK: Values of any type, by their strategies

    func field<Value>(_ type: Value.Type, _ name: String) throws -> Value {
        try fields(name, type) { try $0.decodeBridged(type, forKey: name, in: self) }
    }

    func fieldIfPresent<Value>(_ type: Value.Type, _ name: String) throws -> Value? {
        try fields(name, type) { try $0.decodeBridgedIfPresent(type, forKey: name, in: self) }
    }

    func element<Value>(_ type: Value.Type, _ values: inout ValueDecoder, _ index: Int) throws
        -> Value
    {
        let strategy = values.treeReader.bridge.strategy(for: type)
        return try decode(strategy, from: &values, at: BridgeKey(index: index))
    }

    @inline(__always)
    func decode<Value>(
        _ strategy: DecodingStrategy<Value>, from values: inout ValueDecoder,
        at key: @autoclosure () -> BridgeKey?
    ) throws -> Value {
        guard strategy.needsPath else { return try strategy.decode(from: &values) }
        return try enclosing(key(), values.treeReader.bridge) { try strategy.decode(from: &values) }
    }

    /// Runs `body` with this frame, under `key`, as the parent of new frames.
    private func enclosing<R>(
        _ key: BridgeKey?, _ bridge: DecodingBridge, _ body: () throws -> R
    ) rethrows -> R {
        let outer = bridge.enclosing
        currentKey = key
        bridge.enclosing = self
        defer { bridge.enclosing = outer }
        return try body()
    }

    // MARK: Errors

    // Users' initialisers see a mismatch as a `DecodingError`, which lenient ones expect, with the
    // failure inside; they see absence and damage as failures, which they should not catch.

    /// Returns `error` as it leaves a container that was asked for the value under `key`.
    func thrown(_ error: any Error, at key: BridgeKey?, as type: Any.Type) -> any Error {
        switch error {
        case is ReadFailure, is FormatError:
            let failure = insideNested(ReadFailure(error))
            return failure.decodingError(codingPath + (key.map { [$0] } ?? []), type) ?? failure
        case let error as DecodingError where isNested:
            guard let failure = error.context.underlyingError as? ReadFailure else { return error }
            return error.with(failure: insideNested(failure))
        default:
            return error
        }
    }

    /// Adds the keys of nested containers up to the value that they are in: a user's initialiser
    /// opened the containers, so no decoder on the way up knows of them.
    private func insideNested(_ failure: ReadFailure) -> ReadFailure {
        var failure = failure
        var frame = self
        while frame.isNested, let key = frame.key, let parent = frame.parent {
            failure = failure.inside(key)
            frame = parent
        }
        return failure
    }

    /// Returns `error` as it leaves the value's initialiser. The `codingPath` of an error that the
    /// initialiser made itself says where it belongs.
    func located(_ error: any Error) -> any Error {
        guard let error = error as? DecodingError, !(error.context.underlyingError is ReadFailure)
        else {
            return error
        }
        let failure = error.context.codingPath.dropFirst(codingPath.count).reversed()
            .reduce(ReadFailure(error)) { $0.inside($1) }
        return error.with(failure: failure)
    }

    func mismatch(_ expected: String, _ type: Any.Type, _ values: borrowing ValueDecoder)
        -> any Error
    {
        thrown(values.mismatch(expected), at: nil, as: type)
    }

    func closed() -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription: isOpen
                    ? "the value is not of this kind"
                    : "the value was decoded already; its decoder can't be kept"))
    }

    func missing(_ type: Any.Type) -> DecodingError {
        .valueNotFound(
            type,
            DecodingError.Context(codingPath: codingPath, debugDescription: "there is no value"))
    }
}

extension DecodingFrame: Decoder {
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try beginFields()
        return KeyedDecodingContainer(KeyedFieldDecoding<Key>(frame: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try ElementDecoding(self) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

/// The single-value container of a value is the frame itself, so that it costs no allocation.
extension DecodingFrame: SingleValueDecodingContainer {
    func decodeNil() -> Bool {
        guard let values = try? wholeValue() else { return !isModel }
        return (try? values.reader.peek()).map { $0 == Wire.null || $0 == Wire.absent } ?? false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try whole(type) { values in
            let strategy = values.treeReader.bridge.strategy(for: type)
            return try decode(strategy, from: &values, at: nil)
        }
        if let value { return value }
        // A wrapper of a model encodes that model's fields as its own.
        guard isModel else { throw missing(type) }
        let (treeReader, isNode) = try fields("", type) { ($0.values.treeReader, $0.shape != nil) }
        if isNode, let type = type as? any IdentifiedModel.Type {
            try treeReader.applyTraits(of: type)
        }
        return try treeReader.nested { try Value(from: self) }
    }

    private func scalar<Value: FieldValue>(_ type: Value.Type) throws -> Value {
        guard let value = try whole(type, { try Value.decodeValue(from: &$0) }) else {
            throw missing(type)
        }
        return value
    }

    func decode(_ type: Bool.Type) throws -> Bool { try scalar(type) }
    func decode(_ type: String.Type) throws -> String { try scalar(type) }
    func decode(_ type: Double.Type) throws -> Double { try scalar(type) }
    func decode(_ type: Float.Type) throws -> Float { try scalar(type) }
    func decode(_ type: Int.Type) throws -> Int { try scalar(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try scalar(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try scalar(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try scalar(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try scalar(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try scalar(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try scalar(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar(type) }
}

extension ReadFailure {
    /// Returns the failure as seen from the value that `key` stands in.
    fileprivate func inside(_ key: any CodingKey) -> ReadFailure {
        key.intValue.map(inside(element:)) ?? inside(field: key.stringValue)
    }

    /// Returns a mismatch as a `DecodingError`; nil for any other failure.
    fileprivate func decodingError(_ path: [any CodingKey], _ type: Any.Type) -> DecodingError? {
        guard !isFinal else { return nil }
        switch cause {
        case .missing:
            guard let key = path.last else { return nil }
            let context = DecodingError.Context(
                codingPath: path.dropLast(), debugDescription: "the record lacks this field",
                underlyingError: self)
            return .keyNotFound(key, context)
        case .undecodable(let detail):
            let context = DecodingError.Context(
                codingPath: path, debugDescription: detail, underlyingError: self)
            return .typeMismatch(type, context)
        default: return nil
        }
    }
}

extension DecodingError {
    var context: Context {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            context
        @unknown default: Context(codingPath: [], debugDescription: "\(self)")
        }
    }

    func with(failure: ReadFailure) -> DecodingError {
        let context = Context(
            codingPath: context.codingPath, debugDescription: context.debugDescription,
            underlyingError: failure)
        return switch self {
        case .typeMismatch(let type, _): .typeMismatch(type, context)
        case .valueNotFound(let type, _): .valueNotFound(type, context)
        case .keyNotFound(let key, _): .keyNotFound(key, context)
        case .dataCorrupted: .dataCorrupted(context)
        @unknown default: .dataCorrupted(context)
        }
    }
}
