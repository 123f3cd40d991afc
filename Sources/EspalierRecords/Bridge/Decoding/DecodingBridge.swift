/// What the bridge remembers during one read.
final class DecodingBridge {
    /// Of the type that was met first: most reads meet no other, as models by the macro know the
    /// types of their members.
    private var first: (type: ObjectIdentifier, strategy: Strategy)?
    private var strategies: TypeTable<Strategy>?
    /// The frame inside of which a value is being decoded; says where a new frame stands.
    var enclosing: DecodingFrame?

    @inline(__always)
    func strategy<Value>(for type: Value.Type) -> DecodingStrategy<Value> {
        let key = ObjectIdentifier(type)
        guard let known = first.flatMap({ $0.type == key ? $0.strategy : nil }) ?? strategies?[key]
        else {
            return found(type)
        }
        // Entered below under its own type. Unchecked, this saves 2 % of reading a feed: not worth
        // unsafe code.
        return known as! DecodingStrategy<Value>
    }

    private func found<Value>(_ type: Value.Type) -> DecodingStrategy<Value> {
        let strategy = DecodingStrategy.of(type)
        if first == nil {
            first = (ObjectIdentifier(type), strategy)
        } else {
            var known = strategies.take() ?? TypeTable()
            known.insert(strategy, for: ObjectIdentifier(type))
            strategies = known
        }
        return strategy
    }
}
