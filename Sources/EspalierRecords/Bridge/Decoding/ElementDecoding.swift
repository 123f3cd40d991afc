/// The unkeyed container of a value: its elements, from the first. An element that can't be read is
/// not moved past.
struct ElementDecoding: UnkeyedDecodingContainer {
    private let frame: DecodingFrame
    private let elementCount: Int
    private var position: Int
    private(set) var currentIndex = 0

    init(_ frame: DecodingFrame) throws {
        guard var values = try frame.wholeValue() else { throw frame.missing([Any].self) }
        guard let count = try values.reader.takeArrayCount() else {
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
        pass(to: values.reader.position)
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let index = currentIndex
        return try take(type) { [frame] in try frame.element(type, &$0, index) }
    }

    mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        if isAtEnd { return nil }
        let index = currentIndex
        return try take(type) { [frame] in
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

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: String.Type) throws -> String {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: Double.Type) throws -> Double {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: Float.Type) throws -> Float {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: Int.Type) throws -> Int {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: Int8.Type) throws -> Int8 {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: Int16.Type) throws -> Int16 {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: Int32.Type) throws -> Int32 {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: Int64.Type) throws -> Int64 {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: UInt.Type) throws -> UInt {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: Int128.Type) throws -> Int128 {
        try take(type) { try type.decodeValue(from: &$0) }
    }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
        try take(type) { try type.decodeValue(from: &$0) }
    }

    private func here(_ type: Any.Type) throws -> ValueDecoder {
        guard var values = try frame.wholeValue() else { throw frame.closed() }
        guard !isAtEnd else { throw frame.missing(type) }
        values.reader.position = position
        return values
    }

    private mutating func pass(to end: Int) {
        position = end
        currentIndex += 1
    }

    private mutating func take<R>(_ type: Any.Type, _ body: (inout ValueDecoder) throws -> R) throws
        -> R
    {
        var values = try here(type)
        do {
            let result = try body(&values)
            pass(to: values.reader.position)
            return result
        } catch {
            throw frame.thrown(
                placed(error, in: values.treeReader), at: BridgeKey(index: currentIndex), as: type)
        }
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
        pass(to: values.reader.position)
        return result
    }
}
