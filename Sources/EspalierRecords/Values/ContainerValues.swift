// The elements of a set and the entries of a dictionary are stored in an order of their bytes, so
// that equal values are equal bytes in every process.

extension Optional: FieldValue where Wrapped: FieldValue {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) throws {
        guard let self else { return encoder.encodeNull() }
        try self.encodeValue(into: encoder)
    }

    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Wrapped? {
        try decoder.decodeOptional { try Wrapped.decodeValue(from: &$0) }
    }

    @inlinable
    public static var valueWhenMissing: Wrapped?? { .some(nil) }

    @inlinable
    public func hasSameEncoding(as other: Wrapped?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let value?, let other?): value.hasSameEncoding(as: other)
        default: false
        }
    }
}

extension Array: FieldValue where Element: FieldValue {
    @inlinable
    public func encodeValue(into encoder: ValueEncoder) throws {
        try encoder.encodeArray(count: count) {
            for element in self { try element.encodeValue(into: encoder) }
        }
    }

    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> [Element] {
        try Element.decodeValues(from: &decoder)
    }

    @inlinable
    public func hasSameEncoding(as other: [Element]) -> Bool {
        guard count == other.count else { return false }
        for index in indices where !self[index].hasSameEncoding(as: other[index]) { return false }
        return true
    }
}

extension Set: FieldValue where Element: FieldValue {
    public func encodeValue(into encoder: ValueEncoder) throws {
        try encoder.encodeSorted(self) { try $1.encodeValue(into: $0) }
    }

    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> Set<Element> {
        var result: Set<Element> = []
        let start = decoder.position
        try decoder.decodeElements { result.insert(try Element.decodeValue(from: &$0)) }
        // A hash table is half full.
        decoder.noteMemory(of: result.count, stride: 2 * MemoryLayout<Element>.stride, from: start)
        return result
    }

    /// Compares equal elements: `==` alone does not tell what they write.
    @inlinable
    public func hasSameEncoding(as other: Set<Element>) -> Bool {
        count == other.count
            && allSatisfy { element in
                other.firstIndex(of: element).map { element.hasSameEncoding(as: other[$0]) }
                    ?? false
            }
    }
}

extension Dictionary: FieldValue where Key: FieldValue, Value: FieldValue {
    public func encodeValue(into encoder: ValueEncoder) throws {
        try encoder.encodeSorted(
            self, key: { try $1.encodeValue(into: $0) }, value: { try $1.encodeValue(into: $0) })
    }

    @inlinable
    public static func decodeValue(from decoder: inout ValueDecoder) throws -> [Key: Value] {
        try decoder.decodeDictionary(
            key: { try Key.decodeValue(from: &$0) }, value: { try Value.decodeValue(from: &$0) })
    }

    /// Compares the entries with equal keys: `==` alone does not tell what keys write.
    @inlinable
    public func hasSameEncoding(as other: [Key: Value]) -> Bool {
        count == other.count
            && allSatisfy { key, value in
                guard let index = other.index(forKey: key) else { return false }
                return key.hasSameEncoding(as: other[index].key)
                    && value.hasSameEncoding(as: other[index].value)
            }
    }
}

// MARK: - Shared with the Codable bridge

extension ValueDecoder {
    /// Reads an optional with `body`. Returns nil for nil, absent, a deleted record and a back
    /// reference.
    @inlinable
    package mutating func decodeOptional<Wrapped>(
        _ body: (inout ValueDecoder) throws -> Wrapped
    ) throws -> Wrapped? {
        guard let start = try startOptional() else { return nil }
        do {
            return try body(&self)
        } catch {
            try leaveOutOptional(error, start)
            return nil
        }
    }

    /// Reads a dictionary. One that has written itself by its own `encode(to:)` is read, too: with
    /// text for keys that stand for a `CodingKey`, and an array of keys and values for all others.
    @inlinable
    package mutating func decodeDictionary<Key: Hashable, Value>(
        key: (inout ValueDecoder) throws -> Key, value: (inout ValueDecoder) throws -> Value
    ) throws -> [Key: Value] {
        var result: [Key: Value] = [:]
        let start = position
        if !(Key.self is any CodingKeyRepresentable.Type), try kind() == .array {
            try decodePairs {
                let decoded = try key(&$0)
                result[decoded] = try value(&$0)
            }
        } else {
            try decodeEntries(
                key: { try $0.decodeKey(key) }, value: { result[$1] = try value(&$0) })
        }
        noteMemory(
            of: result.count,
            stride: 2 * (MemoryLayout<Key>.stride + MemoryLayout<Value>.stride), from: start)
        return result
    }

    @inlinable
    mutating func decodeKey<Key>(_ body: (inout ValueDecoder) throws -> Key) throws -> Key {
        let before = fork()
        do {
            return try body(&self)
        } catch {
            guard let key = try before.codingKey(as: Key.self) else { throw error }
            try self.moveBehindValue(of: before)
            return key
        }
    }

    /// Returns the text here as a key that stands for a `CodingKey`; nil for any other key.
    @usableFromInline
    func codingKey<Key>(as type: Key.Type) throws -> Key? {
        guard let type = type as? any CodingKeyRepresentable.Type, try kind() == .string else {
            return nil
        }
        var ahead = fork()
        return type.init(codingKey: DictionaryKey(try ahead.decodeString())) as? Key
    }

    /// Moves behind the value at which `other` stands.
    @usableFromInline
    mutating func moveBehindValue(of other: borrowing ValueDecoder) throws {
        reader.position = other.reader.position
        try reader.skipValue()
    }

    /// Reads an array of keys and values with `body`, which reads one of each. A pair of which a
    /// record is deleted is left out.
    @usableFromInline
    mutating func decodePairs(_ body: (inout ValueDecoder) throws -> Void) throws {
        guard let count = try reader.readArrayCount() else { throw mismatch("an array") }
        guard count.isMultiple(of: 2) else {
            throw ReadFailure(.undecodable("expected a value for each key"))
        }
        let treeReader = treeReader
        try treeReader.nested {
            for pair in 0..<count / 2 {
                let start = reader.position
                do {
                    try body(&self)
                } catch {
                    try leaveOut(error, from: start) { $0.inside(element: 2 * pair) }
                    try reader.skipValue()
                }
            }
        }
    }

    /// Returns the position of the value. Moves past it and returns nil if it is nil or absent.
    @usableFromInline
    mutating func startOptional() throws -> Int? { try decodeNull() ? nil : reader.position }

    @usableFromInline
    mutating func leaveOutOptional(_ error: any Error, _ start: Int) throws {
        try leaveOut(error, from: start) { $0 }
    }
}

extension ValueEncoder {
    /// Writes elements without an order of their own in the order of their encoded bytes.
    package func encodeSorted<Elements: Collection>(
        _ elements: Elements, _ encode: (ValueEncoder, Elements.Element) throws -> Void
    ) throws {
        let ordered = try elements.map { element in
            (order: try orderingBytes { try encode($0, element) }, element: element)
        }.sorted { a, b in
            if a.order != b.order { return a.order.lexicographicallyPrecedes(b.order) }
            // Models with one identifier: the first of them decides what is stored, so their order
            // must not be left to chance.
            let content = try [a, b].map { entry in try keyBytes { try encode($0, entry.element) } }
            return content[0].lexicographicallyPrecedes(content[1])
        }
        try encodeArray(count: ordered.count) {
            for entry in ordered {
                if isOrdering {
                    // Sets inside of sets would take twice the time with each level.
                    writer.append(entry.order)
                } else {
                    try encode(self, entry.element)
                }
            }
        }
    }

    /// Writes entries in the order of their keys' bytes. A model in a key stands inline, so that a
    /// key has the same bytes in every record.
    package func encodeSorted<Key, Value>(
        _ entries: [Key: Value],
        key: (ValueEncoder, Key) throws -> Void, value: (ValueEncoder, Value) throws -> Void
    ) throws {
        let ordered = try entries.map { entry in
            (key: try keyBytes { try key($0, entry.key) }, value: entry.value)
        }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        try encodeMap(count: ordered.count) {
            for entry in ordered {
                writer.append(entry.key)
                try value(self, entry.value)
            }
        }
    }
}
