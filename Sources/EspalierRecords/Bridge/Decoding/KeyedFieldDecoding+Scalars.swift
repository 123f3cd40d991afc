// Scalars run no code of users: they are read where the record's reader stands.
extension KeyedFieldDecoding {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try frame.scalarIfPresent(type, key.stringValue)
    }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        try frame.scalar(type, key.stringValue)
    }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try frame.scalarIfPresent(type, key.stringValue)
    }
}

extension DecodingFrame {
    @inline(__always)
    fileprivate func scalar<Value: FieldValue>(_ type: Value.Type, _ name: String) throws -> Value {
        try fields(name, type) { try $0.decode(type, forKey: name) }
    }

    @inline(__always)
    fileprivate func scalarIfPresent<Value: FieldValue>(_ type: Value.Type, _ name: String) throws
        -> Value?
    {
        try fields(name, type) { try $0.decodeIfPresent(type, forKey: name) }
    }
}
