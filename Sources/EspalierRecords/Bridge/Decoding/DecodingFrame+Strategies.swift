// Values of any type, by their strategies.
extension DecodingFrame {
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

    func whole<Value>(_ type: Value.Type) throws -> Value? {
        try whole(type) { try decode($0.treeReader.bridge.strategy(for: type), from: &$0, at: nil) }
    }

    @inline(__always)
    func decode<Value>(
        _ strategy: DecodingStrategy<Value>, from values: inout ValueDecoder,
        at key: @autoclosure () -> BridgeKey?
    ) throws -> Value {
        guard strategy.needsPath else { return try strategy.decode(from: &values) }
        return try enclosing(key(), values.treeReader.bridge) { try strategy.decode(from: &values) }
    }
}
