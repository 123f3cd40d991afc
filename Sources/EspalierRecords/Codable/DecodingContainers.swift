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
struct ElementDecoding: UnkeyedDecodingContainer {
    private let frame: DecodingFrame
    private let elementCount: Int
    private var position: Int
    private(set) var currentIndex = 0
    /// The element that has failed once because its record can't be opened.
    private var failedIndex: Int?

    init(_ frame: DecodingFrame) throws {
        guard var values = try frame.wholeValue() else { throw frame.missing([Any].self) }
        guard let count = try values.reader.readArrayCount() else {
            throw frame.mismatch("an unkeyed container", [Any].self, values)
        }
        self.frame = frame
        elementCount = count
        position = values.reader.position
    }

    var codingPath: [any CodingKey] { frame.codingPath }
    var count: Int? { elementCount }
    var isAtEnd: Bool { currentIndex >= elementCount }

    mutating func decodeNil() throws -> Bool {
        var values = try here(Any.self)
        guard try values.decodeNull() else { return false }
        advance(to: values.reader.position)
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let index = currentIndex
        return try next(type) { [frame] in try frame.element(type, &$0, index) }
    }

    mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        if isAtEnd { return nil }
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
        guard !isAtEnd else { throw frame.missing(type) }
        values.reader.position = position
        return values
    }

    private mutating func advance(to end: Int) {
        position = end
        currentIndex += 1
    }

    /// Reads the next element with `body`.
    private mutating func next<R>(_ type: Any.Type, _ body: (inout ValueDecoder) throws -> R) throws
        -> R
    {
        var values = try here(type)
        do {
            let result = try body(&values)
            advance(to: values.reader.position)
            return result
        } catch {
            let placed = placed(error, in: values.treeReader)
            let thrown = frame.thrown(placed, at: BridgeKey(index: currentIndex), as: type)
            let failure = ReadFailure(placed)
            if failure.leavesOut || failure.isFinal { passIfFailedBefore() }
            throw thrown
        }
    }

    private mutating func passIfFailedBefore() {
        guard failedIndex == currentIndex else {
            failedIndex = currentIndex
            return
        }
        guard var values = try? here(Any.self), (try? values.skipValue()) != nil else {
            // The bytes are damaged.
            currentIndex = elementCount
            return
        }
        advance(to: values.reader.position)
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
        let result = try body(
            DecodingFrame(
                nestedIn: frame, key: BridgeKey(index: currentIndex), value: here(Any.self)))
        try values.skipValue()
        advance(to: values.reader.position)
        return result
    }
}
