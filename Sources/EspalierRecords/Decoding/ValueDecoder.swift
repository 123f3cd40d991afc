/// Reads the values of one record, in order.
///
/// `FieldValue` conformances receive one and read exactly one value. It can't be copied or kept:
/// the bytes it reads belong to the snapshot of one read.
///
/// Example: `static func decodeValue(from decoder: inout ValueDecoder) throws -> Self { Self(try
/// decoder.decodeString()) }`.
public struct ValueDecoder: ~Copyable {
    package var reader: ByteReader
    @usableFromInline package let treeReader: TreeReader
    /// The record's children among the treeReader's.
    @usableFromInline package let children: Range<Int>

    package init(reader: ByteReader, treeReader: TreeReader, children: Range<Int>) {
        self.reader = reader
        self.treeReader = treeReader
        self.children = children
    }

    /// Another decoder at the same position.
    @usableFromInline
    package func fork() -> ValueDecoder {
        ValueDecoder(reader: reader, treeReader: treeReader, children: children)
    }

    // MARK: Scalars

    /// What the next value is.
    public func kind() throws -> ValueKind { try reader.kind() }

    /// Whether the next value is nil or absent; moves past it if so.
    public mutating func decodeNull() throws -> Bool {
        let tag = try reader.peek()
        guard tag == Wire.null || tag == Wire.absent else { return false }
        reader.position += 1
        return true
    }

    public mutating func decodeBool() throws -> Bool {
        guard let value = try reader.takeBool() else { throw mismatch("a Bool") }
        return value
    }

    /// An integer stored in any width, if it fits.
    public mutating func decodeInteger<I: FixedWidthInteger>(_ type: I.Type = I.self) throws -> I {
        guard let value = try reader.takeInteger(type) else {
            throw mismatch("an integer that fits \(type)")
        }
        return value
    }

    /// A number: integers are taken where `Double` holds them exactly.
    public mutating func decodeDouble() throws -> Double {
        if let value = try reader.takeDouble() { return value }
        if let value = try reader.takeFloat() { return Double(value) }
        let start = reader.position
        if let integer = try reader.takeInteger(Int64.self) {
            if let value = Double(exactly: integer) { return value }
            reader.position = start
        }
        throw mismatch("a number that fits Double")
    }

    public mutating func decodeFloat() throws -> Float {
        if let value = try reader.takeFloat() { return value }
        let start = reader.position
        let value = try decodeDouble()
        if value.isNaN { return Float(value) }
        if let value = Float(exactly: value) { return value }
        reader.position = start
        throw mismatch("a number that fits Float")
    }

    public mutating func decodeString() throws -> String {
        guard let value = try reader.takeString() else { throw mismatch("a String") }
        return value
    }

    /// A run of bytes.
    public mutating func decodeBytes() throws -> [UInt8] {
        guard let value = try reader.takeBytes() else { throw mismatch("bytes") }
        return value
    }

    /// A number stored as its decimal digits.
    public mutating func decodeDecimalDigits() throws -> String {
        guard let value = try reader.takeDecimal() else { throw mismatch("a decimal number") }
        return value
    }

    /// Moves past one value.
    public mutating func skipValue() throws { try reader.skipValue() }

    package func mismatch(_ expected: String) -> ReadFailure {
        do {
            return ReadFailure(.undecodable("expected \(expected), found \(try reader.kind())"))
        } catch {
            return treeReader.failure(of: error)
        }
    }

    // MARK: Containers

    /// An array; `body` reads one element. An element whose record is deleted, or that refers back
    /// to a record being read, is left out.
    // Inlined here, because a closure on a generic element looks the metadata of its array up for
    // each element.
    @inline(__always)
    public mutating func decodeElements(_ body: (inout ValueDecoder) throws -> Void) throws {
        try decodeElements(numberedFrom: 0, body)
    }

    /// How many elements the array here says it has, as far as it is sensible to make room for them
    /// in advance.
    @usableFromInline
    package func expectedCount() -> Int {
        var ahead = reader
        return min((try? ahead.takeArrayCount()) ?? 0, 1_024)
    }

    /// The same for an array that continues another, for the sake of paths.
    @inline(__always)
    package mutating func decodeElements(
        numberedFrom base: Int, _ body: (inout ValueDecoder) throws -> Void
    ) throws {
        guard let count = try reader.takeArrayCount() else { throw mismatch("an array") }
        let treeReader = treeReader
        try treeReader.nested {
            for index in 0..<count {
                let start = reader.position
                do {
                    try body(&self)
                } catch {
                    try leaveOut(error, from: start) { $0.inside(element: base + index) }
                }
            }
        }
    }

    /// A map; `key` reads a key and `value` the value under it. An entry whose record is deleted is
    /// left out.
    public mutating func decodeEntries<Key>(
        key: (inout ValueDecoder) throws -> Key, value: (inout ValueDecoder, Key) throws -> Void
    ) throws {
        guard let count = try reader.takeMapCount() else { throw mismatch("a map") }
        let treeReader = treeReader
        try treeReader.nested {
            for _ in 0..<count {
                let decoded = try key(&self)
                let start = reader.position
                do {
                    try value(&self, decoded)
                } catch {
                    try leaveOut(error, from: start) { $0.inside(field: "\(decoded)") }
                }
            }
        }
    }

    /// Moves past the value at `start` if the failure lets it be left out; throws it with its place
    /// otherwise.
    package mutating func leaveOut(
        _ error: any Error, from start: Int, _ placed: (ReadFailure) -> ReadFailure
    ) throws {
        let failure = treeReader.failure(of: error)
        guard failure.leavesOut else { throw placed(failure) }
        reader.position = start
        try reader.skipValue()
    }

    // MARK: Models

    /// A model: from the record a reference names, or from the map that stands here.
    @inlinable
    package mutating func decodeModel<Model>(
        _ type: Model.Type, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        if let handle = try takeReference() {
            return try treeReader.assemble(handle, as: type, make)
        }
        let start = try startInline()
        defer { treeReader.leave() }
        var decoder = RecordDecoder(inline: fork(), count: start.count)
        let model = try make(&decoder)
        try finishInline(at: decoder.endPosition, start: start.position)
        return model
    }

    /// The record that the reference here names; nil when something else stands here.
    @usableFromInline
    mutating func takeReference() throws -> Handle? {
        guard let ordinal = try reader.takeChild() else { return nil }
        return try treeReader.child(ordinal, of: children)
    }

    /// Steps into the map that stands here.
    @usableFromInline
    mutating func startInline() throws -> (position: Int, count: Int) {
        let start = reader.position
        guard let count = try reader.takeMapCount() else { throw mismatch("a model") }
        try treeReader.enter()
        return (start, count)
    }

    /// Moves behind the map.
    @usableFromInline
    mutating func finishInline(at end: Int?, start: Int) throws {
        if let end {
            reader.position = end
        } else {
            reader.position = start
            try reader.skipValue()
        }
    }
}
