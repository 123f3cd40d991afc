/// What the bridge remembers during one flattening.
final class EncodingBridge {
    private var strategies = TypeTable<Strategy>()
    /// The frame inside of which a value is being encoded; says where a new frame stands.
    var enclosing: EncodingFrame?

    func strategy<Value>(for type: Value.Type) -> EncodingStrategy<Value> {
        if let known = strategies[ObjectIdentifier(type)] {
            // Entered below under its own type. Unchecked, this saves 2 % of reading a feed: not
            // worth unsafe code.
            return known as! EncodingStrategy<Value>
        }
        let strategy = EncodingStrategy.of(type)
        strategies.insert(strategy, for: ObjectIdentifier(type))
        return strategy
    }
}
