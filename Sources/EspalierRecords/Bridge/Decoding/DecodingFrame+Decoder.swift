extension DecodingFrame: Decoder {
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try beginFields()
        return KeyedDecodingContainer(KeyedFieldDecoding<Key>(frame: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try ElementDecoding(self) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

/// The single-value container of a value: the frame itself, so that it costs no box.
extension DecodingFrame: SingleValueDecodingContainer {
    func decodeNil() -> Bool {
        guard let values = try? wholeValue() else { return !isModel }
        return (try? values.reader.peek()).map { $0 == Wire.null || $0 == Wire.absent } ?? false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let value = try whole(type) { return value }
        // A wrapper of a model encodes that model's fields as its own.
        guard isModel else { throw missing(type) }
        let treeReader = try fields("", type) { $0.values.treeReader }
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
