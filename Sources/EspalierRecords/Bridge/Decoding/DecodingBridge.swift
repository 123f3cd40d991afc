/// What the bridge remembers during one read.
final class DecodingBridge {
    private var strategies = TypeTable<Strategy>()
    /// The frame inside of which a value is being decoded; says where a new frame stands.
    var enclosing: DecodingFrame?

    @inline(__always)
    func strategy<Value>(for type: Value.Type) -> DecodingStrategy<Value> {
        if let known = strategies[ObjectIdentifier(type)] {
            // Entered below under its own type. Unchecked, this saves 2 % of reading a feed: not worth unsafe code.
            return known as! DecodingStrategy<Value>
        }
        return found(type)
    }

    private func found<Value>(_ type: Value.Type) -> DecodingStrategy<Value> {
        let strategy = DecodingStrategy.of(type)
        strategies.insert(strategy, for: ObjectIdentifier(type))
        return strategy
    }
}
