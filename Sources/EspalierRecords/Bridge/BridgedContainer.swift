/// The standard containers, which the bridge takes apart itself.
protocol BridgedContainer {
    static var encodingStrategy: Strategy { get }
    static var decodingStrategy: Strategy { get }
}

extension Optional: BridgedContainer {
    static var encodingStrategy: Strategy { OptionalEncoding<Wrapped>() }
    static var decodingStrategy: Strategy { OptionalDecoding<Wrapped>() }
}

extension Array: BridgedContainer {
    static var encodingStrategy: Strategy { ListEncoding<Self>() }
    static var decodingStrategy: Strategy { ArrayDecoding<Element>() }
}

extension ContiguousArray: BridgedContainer {
    static var encodingStrategy: Strategy { ListEncoding<Self>() }
    static var decodingStrategy: Strategy { ListDecoding<Self>() }
}

extension Set: BridgedContainer {
    static var encodingStrategy: Strategy { SetEncoding<Element>() }
    static var decodingStrategy: Strategy { SetDecoding<Element>() }
}

extension Dictionary: BridgedContainer {
    static var encodingStrategy: Strategy { DictionaryEncoding<Key, Value>() }
    static var decodingStrategy: Strategy { DictionaryDecoding<Key, Value>() }
}
