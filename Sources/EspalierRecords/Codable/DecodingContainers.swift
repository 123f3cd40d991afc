// The containers that a value's `init(from:)` receives. They hold a frame and no bytes, and a
// container kept beyond the value throws.

/// The keyed container of a value: its fields.
struct KeyedFieldDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let frame: DecodingFrame

    var codingPath: [any CodingKey] { frame.codingPath }
    var allKeys: [Key] { frame.fieldNames().compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool {
        (try? frame.peek(at: key.stringValue) { _ in true }) == true
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        // A field that the record lacks counts as nil.
        try frame.peek(at: key.stringValue) { try $0.decodeNull() } ?? true
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try frame.field(type, key.stringValue)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try frame.fieldIfPresent(type, key.stringValue)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try frame.nested(field: key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try frame.nested(field: key.stringValue).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try frame.nested(field: BridgeKey.superKey) }
    func superDecoder(forKey key: Key) throws -> any Decoder {
        try frame.nested(field: key.stringValue)
    }

    // MARK: Scalars

    // Scalars run no code of users: they are read where the record's reader stands.

    @inline(__always)
    private func scalar<Value: FieldValue>(_ type: Value.Type, _ key: Key) throws -> Value {
        let name = key.stringValue
        return try frame.fields(name, type) { try $0.decode(type, forKey: name) }
    }

    @inline(__always)
    private func optional<Value: FieldValue>(_ type: Value.Type, _ key: Key) throws -> Value? {
        let name = key.stringValue
        return try frame.fields(name, type) { try $0.decodeIfPresent(type, forKey: name) }
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try scalar(type, key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try scalar(type, key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try scalar(type, key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try scalar(type, key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try scalar(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try scalar(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try scalar(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try scalar(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try scalar(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try scalar(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try scalar(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try scalar(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try scalar(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try scalar(type, key) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try scalar(type, key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try scalar(type, key) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try optional(type, key)
    }
}

/// The unkeyed container of a value: its elements, from the first. An element that can't be read
/// stays the next one.
///
/// Lists that leave out what they can't decode rely on that: they decode the element again, as a
/// type that fits all values. An element whose record can't be opened fits no type, so it is passed
/// once it has failed twice. Otherwise such a list would never end.
///
/// A value counts as a list if it asks for the end before each element, from the first one on,
/// never for the count, and decodes references as one type: `Array` and `Set` do. A list leaves out
/// references to deleted records: `decode` moves on to the next element, and `isAtEnd` is true if
/// only such references are left. In any other value, such as a pair, `decode` throws, because
/// another element must not take the place of the deleted one. An element that only requires a
/// deleted record is left out unless it is the last one. A list of optionals in which every
/// element is deleted is empty.
struct ElementDecoding: UnkeyedDecodingContainer {
    private let frame: DecodingFrame
    private let elementCount: Int
    private var position: Int
    private(set) var currentIndex = 0
    /// The element that has failed once because its record can't be opened.
    private var failedIndex: Int?
    private let use = ListUse()

    init(_ frame: DecodingFrame) throws {
        guard var values = try frame.wholeValue() else { throw frame.missing([Any].self) }
        guard let count = try Self.readCount(&values.reader) else {
            throw frame.mismatch("an unkeyed container", [Any].self, values)
        }
        self.frame = frame
        elementCount = count
        position = values.reader.position
    }

    /// Reads the number of elements. A map counts as a list of keys and values, as which a
    /// dictionary decodes itself, unless its keys are text. An empty map counts as none: a type
    /// that tries a list before an object must not take an empty object for a list.
    private static func readCount(_ reader: inout ByteReader) throws -> Int? {
        if let count = try reader.readArrayCount() { return count }
        var ahead = reader
        guard let count = try ahead.readMapCount(), count > 0, try ahead.kind() != .string else {
            return nil
        }
        reader = ahead
        return 2 * count
    }

    var codingPath: [any CodingKey] { frame.codingPath }
    var count: Int? {
        use.isList = false
        return elementCount
    }

    var isAtEnd: Bool {
        guard !isBehindLast else { return true }
        use.noteQuestion(at: currentIndex)
        return use.isList && isRestLeftOut
    }

    private var isBehindLast: Bool { currentIndex >= elementCount }

    /// Whether all elements from here on are references that a list leaves out.
    private var isRestLeftOut: Bool {
        guard use.hasOptionalElements != true, let values = try? here(Any.self) else {
            return false
        }
        var ahead = values.fork()
        for _ in currentIndex..<elementCount {
            guard let handle = try? ahead.readReference(), ahead.treeReader.isLeftOut(handle) else {
                return false
            }
        }
        var left = values.fork()
        for _ in currentIndex..<elementCount { left.noteLeftOut() }
        return true
    }

    mutating func decodeNil() throws -> Bool {
        var values = try here(Any.self)
        guard try values.decodeNull() else { return false }
        advance(to: values.reader.position)
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let index = currentIndex
        return try next(type) { [frame, use] values in
            if use.hasOptionalElements == nil {
                let strategy = values.treeReader.bridge.strategy(for: type)
                use.hasOptionalElements = strategy.valueWhenMissing != nil
            }
            return try frame.element(type, &values, index)
        }
    }

    mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        if isBehindLast { return nil }
        use.hasOptionalElements = true
        let index = currentIndex
        return try next(type) { [frame] in
            try $0.decodeOptional { try frame.element(type, &$0, index) }
        }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try nested { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try nested { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try nested { $0 } }

    @inline(__always)
    private mutating func scalar<Value: FieldValue>(_ type: Value.Type) throws -> Value {
        try next(type) { try type.decodeValue(from: &$0) }
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try scalar(type) }
    mutating func decode(_ type: String.Type) throws -> String { try scalar(type) }
    mutating func decode(_ type: Double.Type) throws -> Double { try scalar(type) }
    mutating func decode(_ type: Float.Type) throws -> Float { try scalar(type) }
    mutating func decode(_ type: Int.Type) throws -> Int { try scalar(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try scalar(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try scalar(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try scalar(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try scalar(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try scalar(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try scalar(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar(type) }

    /// Returns a decoder that stands at the next element.
    private func here(_ type: Any.Type) throws -> ValueDecoder {
        guard var values = try frame.wholeValue() else { throw frame.closed() }
        guard !isBehindLast else { throw frame.missing(type) }
        values.reader.position = position
        return values
    }

    private mutating func advance(to end: Int) {
        position = end
        currentIndex += 1
    }

    /// Reads the next element with `body`; in a list, the next that is not left out.
    private mutating func next<R>(_ type: Any.Type, _ body: (inout ValueDecoder) throws -> R) throws
        -> R
    {
        while true {
            var values = try here(type)
            try use.noteElement(
                at: currentIndex, type, isReference: values.reader.isReferenceOrNull)
            do {
                let result = try body(&values)
                advance(to: values.reader.position)
                return result
            } catch {
                let placed = placed(error, in: values.treeReader)
                let thrown = frame.thrown(placed, at: BridgeKey(index: currentIndex), as: type)
                let failure = ReadFailure(placed)
                if failure.leavesOut, use.isList, currentIndex < elementCount - 1, pass() {
                    use.notePassed(thrown, next: currentIndex)
                    continue
                }
                if failure.leavesOut || failure.isFinal { passIfFailedBefore() }
                throw thrown
            }
        }
    }

    /// Moves past the next element; false if its bytes are damaged.
    private mutating func pass() -> Bool {
        guard var values = try? here(Any.self), (try? values.skipValue()) != nil else {
            return false
        }
        advance(to: values.reader.position)
        return true
    }

    private mutating func passIfFailedBefore() {
        guard failedIndex == currentIndex else {
            failedIndex = currentIndex
            return
        }
        if !pass() { currentIndex = elementCount }
    }

    private func placed(_ error: any Error, in treeReader: TreeReader) -> any Error {
        switch error {
        case let error as DecodingError:
            error.with(failure: ReadFailure(error).inside(element: currentIndex))
        case is ReadFailure, is FormatError:
            treeReader.failure(of: error).inside(element: currentIndex)
        default: error
        }
    }

    private mutating func nested<R>(_ body: (DecodingFrame) throws -> R) throws -> R {
        var values = try here(Any.self)
        use.isList = false
        let result = try body(
            DecodingFrame(
                nestedIn: frame, key: BridgeKey(index: currentIndex), value: here(Any.self)))
        try values.skipValue()
        advance(to: values.reader.position)
        return result
    }
}

/// Tells whether the user of an unkeyed container treats it as a list. An object, because asking
/// for the end does not change the container.
private final class ListUse {
    /// Whether nothing has told that the value is no list.
    var isList = true
    /// Whether the elements are optional, so that a deleted one becomes nil; nil before the first
    /// element is decoded.
    var hasOptionalElements: Bool?
    /// The element before which the end was asked for last.
    private var asked: Int?
    private var type: ObjectIdentifier?
    /// The failure of an element that was left out.
    private var passed: (any Error)?

    func noteQuestion(at index: Int) {
        if index > (asked ?? -1) + 1 { isList = false }
        asked = index
    }

    /// Notes an element that is about to be decoded. Throws if that shows that the value is no list
    /// after an element was left out.
    func noteElement(at index: Int, _ type: Any.Type, isReference: Bool) throws {
        let known = self.type
        self.type = ObjectIdentifier(type)
        if asked != index {
            isList = false
            if let passed { throw passed }
        }
        if !isReference || known != nil && known != self.type { isList = false }
    }

    func notePassed(_ failure: any Error, next index: Int) {
        passed = failure
        asked = index
    }
}

extension ByteReader {
    fileprivate var isReferenceOrNull: Bool {
        guard let kind = try? kind() else { return false }
        return kind == .child || kind == .null || kind == .absent
    }
}

extension ValueDecoder {
    /// Moves past a reference that is left out, and notes why as for every such reference.
    fileprivate mutating func noteLeftOut() {
        struct Nothing {}
        _ = try? decodeModel(Nothing.self) { _ in Nothing() }
    }
}

extension TreeReader {
    /// Whether a record is deleted or being read.
    fileprivate func isLeftOut(_ handle: Handle) -> Bool {
        if path.contains(handle) { return true }
        switch try? source.record(handle) {
        case .tombstone: return true
        case .found(let bytes, let owner):
            return withExtendedLifetime(owner) {
                let record = try? Record(reading: bytes, handle: handle, shapes: source.shape)
                return record?.shape.isDeletion == true
            }
        case .lost, .nothing, nil: return false
        }
    }
}
