// The state of one flattening or read that the Codable bridge keeps, and the frames of values.

/// The bridge's state during one flattening.
final class EncodingBridge {
    private var strategies = TypeTable<Strategy>()
    /// The frame inside which a value is being encoded: the parent of a new frame.
    var enclosing: EncodingFrame?

    func strategy<Value>(for type: Value.Type) -> EncodingStrategy<Value> {
        if let known = strategies[ObjectIdentifier(type)] {
            // Inserted below under its own type. An unchecked cast would save 2 % of reading a
            // feed, which does not justify unsafe code.
            return known as! EncodingStrategy<Value>
        }
        let strategy = EncodingStrategy.of(type)
        strategies.insert(strategy, for: ObjectIdentifier(type))
        return strategy
    }

    /// Whether models of a type are the cases of an enum.
    private var enums: [ObjectIdentifier: Bool] = [:]

    func isEnum<Model>(_ model: Model) -> Bool {
        if let known = enums[ObjectIdentifier(Model.self)] { return known }
        let isEnum = Mirror(reflecting: model).displayStyle == .enum
        enums[ObjectIdentifier(Model.self)] = isEnum
        return isEnum
    }
}

/// The bridge's state during one read.
final class DecodingBridge {
    /// The strategy of the type that was met first. Most reads meet no other type, because models
    /// by the macro know the types of their members.
    private var first: (type: ObjectIdentifier, strategy: Strategy)?
    private var strategies: TypeTable<Strategy>?
    /// The frame inside which a value is being decoded: the parent of a new frame.
    var enclosing: DecodingFrame?

    @inline(__always)
    func strategy<Value>(for type: Value.Type) -> DecodingStrategy<Value> {
        let key = ObjectIdentifier(type)
        guard let known = first.flatMap({ $0.type == key ? $0.strategy : nil }) ?? strategies?[key]
        else {
            return newStrategy(for: type)
        }
        // Inserted below under its own type. An unchecked cast would save 2 % of reading a feed,
        // which does not justify unsafe code.
        return known as! DecodingStrategy<Value>
    }

    private func newStrategy<Value>(for type: Value.Type) -> DecodingStrategy<Value> {
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

/// Objects by type, by open addressing: a look-up costs a multiplication and a probe. The keyed
/// hash of `Dictionary` costs 20 ns, which every reference and every date of a tree would pay.
struct TypeTable<Value: AnyObject> {
    // Apart from the values, so that comparing retains nothing.
    private var types: [ObjectIdentifier?] = Array(repeating: nil, count: 16)
    private var values: [Value?] = Array(repeating: nil, count: 16)
    private var count = 0

    @inline(__always)
    subscript(type: ObjectIdentifier) -> Value? {
        var slot = place(of: type)
        while let candidate = types[slot] {
            if candidate == type { return values[slot] }
            slot = (slot + 1) & (types.count - 1)
        }
        return nil
    }

    mutating func insert(_ value: Value, for type: ObjectIdentifier) {
        if count * 2 >= types.count { grow() }
        var slot = place(of: type)
        while types[slot] != nil { slot = (slot + 1) & (types.count - 1) }
        types[slot] = type
        values[slot] = value
        count += 1
    }

    private mutating func grow() {
        let old = zip(types, values)
        types = Array(repeating: nil, count: types.count * 2)
        values = Array(repeating: nil, count: types.count)
        count = 0
        for case let (type?, value?) in old { insert(value, for: type) }
    }

    @inline(__always)
    private func place(of type: ObjectIdentifier) -> Int {
        // Metadata is aligned to 8 bytes and more, so the low bits are always zero.
        let bits = UInt64(UInt(bitPattern: type)) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: bits >> 40) & (types.count - 1)
    }
}

/// One value that the bridge encodes or decodes, and the values around it.
protocol BridgeFrame: AnyObject {
    /// The frame of the value around this one.
    var parent: Self? { get }
    /// The key of this value in the parent.
    var key: BridgeKey? { get }
}

extension BridgeFrame {
    // A loop, because errors are made where the stack ends.
    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var frame: Self? = self
        while let here = frame {
            if let key = here.key { path.append(key) }
            frame = here.parent
        }
        return path.reversed()
    }
}

/// The text of a dictionary's key, with the number that it may stand for.
struct DictionaryKey: CodingKey {
    let stringValue: String
    var intValue: Int? { Int(stringValue) }

    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(String(intValue)) }
}

/// A step of a `codingPath`: the name of a field, or the index of an element.
struct BridgeKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(index: intValue) }

    /// The one field of a model that encodes itself as a whole, in a single-value or an unkeyed
    /// container: a record consists of fields.
    static let wholeValue = "$value"
    static let superKey = "super"
}
