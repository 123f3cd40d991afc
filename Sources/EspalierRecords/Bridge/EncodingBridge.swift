/// What the bridge remembers during one flattening.
final class EncodingBridge {
    private var strategies = TypeTable<Strategy>()
    /// The frame inside of which a value is being encoded; says where a new frame stands.
    var enclosing: EncodingFrame?

    func strategy<Value>(for type: Value.Type) -> EncodingStrategy<Value> {
        if let known = strategies[ObjectIdentifier(type)] {
            // Entered below under its own type; a checked cast looks the generic metadata up, each time.
            return unsafe unsafeDowncast(known, to: EncodingStrategy<Value>.self)
        }
        let strategy = EncodingStrategy.of(type)
        strategies.insert(strategy, for: ObjectIdentifier(type))
        return strategy
    }
}
