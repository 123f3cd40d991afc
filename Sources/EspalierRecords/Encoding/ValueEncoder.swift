import EspalierConfinement

/// Writes the values of one record, or of one run of values outside a record.
///
/// `FieldValue` conformances receive one and write exactly one value. Not `Sendable`; lives as long
/// as the flattening of one tree.
///
/// Example: `func encodeValue(into encoder: ValueEncoder) throws { encoder.encode(rawValue) }`.
public final class ValueEncoder {
    /// What becomes of a model with an identifier.
    enum Mode {
        /// A reference to a record of its own.
        case referring
        /// A stand-in by which the elements of a set are put in order.
        case ordering
        /// A map of its fields, as in the keys of a dictionary, which are the same bytes in every
        /// record.
        case inlining
    }

    // immutable
    let flattener: Flattener
    let mode: Mode

    // confined to the thread that flattens
    private let confinedWriter = Confined(ByteWriter(capacity: 128))
    private let references = Confined(ChildList())

    package internal(set) var writer: ByteWriter {
        @inline(__always) _read { yield confinedWriter.value }
        @inline(__always) _modify { yield &confinedWriter.value }
    }

    /// The nodes referred to, each once, as indexes into the flattened tree; a child's ordinal is
    /// its place here.
    package var children: [Int] { references.value.nodes }

    /// Puts the children at the end of `array`.
    func copyChildren(to array: inout [Int]) { references.value.copy(to: &array) }

    init(_ flattener: Flattener, mode: Mode = .referring) {
        self.flattener = flattener
        self.mode = mode
    }

    func reset() {
        writer.removeAll()
        references.value.removeAll()
    }

    // MARK: Scalars

    public func encodeNull() { writer.append(null: ()) }

    /// *Absent*: never set, as opposed to set to nil. A `.merge` write keeps what the record has.
    public func encodeAbsent() { writer.append(Wire.absent) }

    public func encode(_ value: Bool) { writer.append(value: value) }
    public func encode(_ value: Int64) { writer.append(value: value) }
    public func encode(_ value: UInt64) { writer.append(value: value) }
    public func encode(_ value: Float) { writer.append(value: value) }
    public func encode(_ value: Double) { writer.append(value: value) }
    public func encode(_ value: String) { writer.append(value: value) }
    /// A run of bytes.
    public func encode(bytes value: [UInt8]) { writer.append(value: value) }
    /// A number kept as its decimal digits, for what no binary kind holds exactly.
    public func encode(decimal digits: String) { writer.append(decimal: digits) }

    public func encode(_ value: Int128) {
        writer.append(
            wide: UInt64(truncatingIfNeeded: value >> 64), UInt64(truncatingIfNeeded: value),
            signed: true)
    }

    public func encode(_ value: UInt128) {
        writer.append(
            wide: UInt64(truncatingIfNeeded: value >> 64), UInt64(truncatingIfNeeded: value),
            signed: false)
    }

    // MARK: Containers

    /// An array of `count` values, which `body` writes.
    public func encodeArray(count: Int, _ body: () throws -> Void) throws {
        try flattener.nested {
            writer.append(arrayOf: count)
            try body()
        }
    }

    /// A map of `count` entries; `body` writes key, value, key, value.
    public func encodeMap(count: Int, _ body: () throws -> Void) throws {
        try flattener.nested {
            writer.append(mapOf: count)
            try body()
        }
    }

    // MARK: Models

    /// A model: a reference when it has an identifier, a map of its fields when not.
    package func encodeModel(
        identifier: String?, projection: @autoclosure () -> String,
        _ fields: (inout RecordEncoder) throws -> Void
    ) throws {
        guard let identifier, mode != .inlining else { return try encodeInline(fields) }
        guard !identifier.isEmpty else { throw FlattenError.emptyIdentifier(type: projection()) }
        guard mode == .referring else { return encode(identifier) }
        let node = try flattener.node(identifier: identifier, projection: projection(), fields)
        writer.append(child: ordinal(of: node))
    }

    private func encodeInline(_ fields: (inout RecordEncoder) throws -> Void) throws {
        let start = writer.count
        writer.append(Wire.fixmap)
        let count = try flattener.nested {
            var record = RecordEncoder(inline: self)
            try fields(&record)
            return record.count
        }
        guard count > 0 else { return }
        var head = ByteWriter()
        head.append(mapOf: count)
        writer.replace(start..<start + 1, with: head)
    }

    /// The ordinal of `node`, given out now if it is referred to for the first time.
    func ordinal(of node: Int) -> Int { references.value.ordinal(of: node) }

    // MARK: Order

    /// The bytes by which a set's element is put in order: equal in every process, whatever the
    /// order of iteration was.
    package func orderingBytes(_ body: (ValueEncoder) throws -> Void) throws -> [UInt8] {
        try bytes(in: .ordering, body)
    }

    /// The bytes of a dictionary's key, by which entries are put in order.
    package func keyBytes(_ body: (ValueEncoder) throws -> Void) throws -> [UInt8] {
        try bytes(in: .inlining, body)
    }

    private func bytes(in mode: Mode, _ body: (ValueEncoder) throws -> Void) throws -> [UInt8] {
        let scratch = ValueEncoder(flattener, mode: mode)
        try body(scratch)
        return scratch.writer.bytes
    }
}
