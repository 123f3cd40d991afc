import EspalierConfinement

/// Writes the values of one record, or of one run of values outside a record.
///
/// ```swift
/// func encodeValue(into encoder: ValueEncoder) throws { encoder.encode(rawValue) }
/// ```
///
/// A ``FieldValue`` receives an encoder and writes exactly one value. The encoder lives as long as
/// the flattening of one tree, serves the thread that flattens, and is not `Sendable`.
///
/// - Complexity: The bytes of each value.
public final class ValueEncoder {
    /// How a model with an identifier is written.
    enum Mode {
        /// As a reference to a record of its own.
        case referring
        /// As its identifier, by which the elements of a set are ordered.
        case ordering
        /// As a map of its fields, as in the keys of a dictionary, which have the same bytes in
        /// every record.
        case inlining
    }

    // immutable
    let flattener: Flattener
    private let mode: Mode

    // confined to the thread that flattens
    private let confinedWriter = Confined(ByteWriter(capacity: 128))
    private let references = Confined(ChildList())
    private let nulls = Confined(NullMarks())
    private let marks = Confined(FieldMarks())
    /// Whether a value was taken back, and with it perhaps the only reference to a child.
    var mayHaveUnusedChildren = false

    /// Whether the record tells nil from explicit null, and whether it has an explicit null.
    private struct NullMarks {
        var isOn = false
        var isFound = false
    }

    /// Where values of ``Field``s begin, in the record of a type with rules.
    private struct FieldMarks {
        var isOn = false
        var starts: [Int] = []
    }

    package internal(set) var writer: ByteWriter {
        @inline(__always) _read { yield confinedWriter.value }
        @inline(__always) _modify { yield &confinedWriter.value }
    }

    /// The nodes referred to, each once, as indexes of the tree's nodes. The ordinal of a child is
    /// its position here.
    package var children: [Int] { references.value.nodes }

    /// Appends the children to `array`.
    func copyChildren(to array: inout [Int]) { references.value.copy(to: &array) }

    init(_ flattener: Flattener, mode: Mode = .referring) {
        self.flattener = flattener
        self.mode = mode
    }

    func reset() {
        writer.removeAll()
        references.value.removeAll()
        if nulls.value.isOn { nulls.value = NullMarks() }
        if marks.value.isOn { marks.value = FieldMarks() }
        mayHaveUnusedChildren = false
    }

    // MARK: Scalars

    /// Writes nil.
    public func encodeNull() { writer.append(null: ()) }

    /// Writes *absent*: never set, as opposed to set to nil. A merge keeps the value that the
    /// record has.
    public func encodeAbsent() { writer.append(Wire.absent) }

    /// Writes nil that is known to be nil. A merge overwrites the value that the record has; a
    /// plain nil would keep it.
    ///
    /// It matters for the field of a model with an identifier. Inside of other values it is nil.
    public func encodeExplicitNull() {
        guard nulls.value.isOn else { return encodeNull() }
        nulls.value.isFound = true
        writer.append(Self.explicitNull)
    }

    /// Whether the record tells nil from explicit null: the node that it is for merges.
    var marksNulls: Bool {
        get { nulls.value.isOn }
        set { nulls.value.isOn = newValue }
    }

    // MARK: Fields of types with rules

    /// Whether `noteField` notes anything.
    var marksFields: Bool {
        get { marks.value.isOn }
        set { marks.value.isOn = newValue }
    }

    var fieldStarts: [Int] { marks.value.starts }

    /// Returns where the fields noted so far begin, and forgets them.
    func takeFieldStarts() -> Set<Int> {
        guard marks.value.isOn else { return [] }
        defer { marks.value.starts = [] }
        return Set(marks.value.starts)
    }

    /// Notes that a ``Field`` with a value begins here, for a record whose type has rules. Nil in
    /// its place would be an explicit null.
    @usableFromInline
    package func noteField() {
        guard marks.value.isOn else { return }
        marks.value.starts.append(writer.count)
    }

    /// Returns the slots of the fields in whose place a ``Field`` was written.
    func fieldSlots() throws -> [Int] {
        let starts = Set(fieldStarts)
        let bytes = writer.bytes
        return try ByteReader.reading(bytes) { reader in
            var slots: [Int] = []
            var slot = 0
            while reader.position < bytes.count {
                if starts.contains(reader.position) { slots.append(slot) }
                try reader.skipValue()
                slot += 1
            }
            return slots
        }
    }

    /// Stands for an explicit null until the record is complete: the bytes may move until then.
    private static let explicitNull = [Wire.fixext1, Wire.Extension.explicitNull, 0]

    /// Writes nil for each explicit null. Returns the slots of the fields that were explicit nulls.
    func takeExplicitNulls() throws -> Set<Int> {
        guard nulls.value.isFound else { return [] }
        nulls.value.isFound = false
        let bytes = writer.bytes
        var slots: Set<Int> = []
        writer.removeAll()
        try ByteReader.reading(bytes) { reader in
            var copied = 0
            var slot = 0
            while reader.position < bytes.count {
                let start = reader.position
                var end = reader
                try end.skipValue()
                while reader.position < end.position {
                    let position = reader.position
                    try reader.skipHead()
                    guard bytes[position..<reader.position].elementsEqual(Self.explicitNull) else {
                        continue
                    }
                    reader.copy(copied..<position, into: &writer)
                    writer.append(null: ())
                    copied = reader.position
                    if position == start { slots.insert(slot) }
                }
                slot += 1
            }
            reader.copy(copied..<bytes.count, into: &writer)
        }
        return slots
    }

    /// Writes a truth value.
    public func encode(_ value: Bool) { writer.append(value: value) }

    /// Writes an integer, in as few bytes as it needs.
    public func encode(_ value: Int64) { writer.append(value: value) }

    /// Writes an integer, in as few bytes as it needs.
    public func encode(_ value: UInt64) { writer.append(value: value) }

    /// Writes a number, to the bit.
    public func encode(_ value: Float) { writer.append(value: value) }

    /// Writes a number, to the bit.
    public func encode(_ value: Double) { writer.append(value: value) }

    /// Writes text.
    public func encode(_ value: String) { writer.append(value: value) }

    /// Writes a run of bytes.
    public func encode(bytes value: [UInt8]) { writer.append(value: value) }

    /// Writes a number as its decimal digits, for numbers that no binary kind holds exactly.
    public func encode(decimal digits: String) { writer.append(decimal: digits) }

    /// Writes an integer in 16 bytes. An integer that fits `Int64` is better encoded as one.
    public func encode(_ value: Int128) {
        writer.append(
            wide: UInt64(truncatingIfNeeded: value >> 64), UInt64(truncatingIfNeeded: value),
            signed: true)
    }

    /// Writes an integer in 16 bytes. An integer that fits `UInt64` is better encoded as one.
    public func encode(_ value: UInt128) {
        writer.append(
            wide: UInt64(truncatingIfNeeded: value >> 64), UInt64(truncatingIfNeeded: value),
            signed: false)
    }

    // MARK: Containers

    /// Writes an array.
    ///
    /// - Parameters:
    ///   - count: The number of elements.
    ///   - body: Writes exactly `count` values.
    /// - Throws: ``FlattenError/tooDeep(limit:)``, ``FlattenError/treeTooLarge(limit:)``, and what
    ///   `body` throws.
    public func encodeArray(count: Int, _ body: () throws -> Void) throws {
        try flattener.nested(behind: writer.count) {
            writer.append(arrayOf: count)
            try body()
        }
    }

    /// Writes a map.
    ///
    /// - Parameters:
    ///   - count: The number of entries.
    ///   - body: Writes key, value, key, value: two values for each entry.
    /// - Throws: ``FlattenError/tooDeep(limit:)``, ``FlattenError/treeTooLarge(limit:)``, and what
    ///   `body` throws.
    public func encodeMap(count: Int, _ body: () throws -> Void) throws {
        try flattener.nested(behind: writer.count) {
            writer.append(mapOf: count)
            try body()
        }
    }

    // MARK: Models

    /// Writes a model: a reference when it has an identifier, a map of its fields when not.
    /// `object` returns the model if it is an object of a class. For `isSame` and `model` see
    /// `Flattener.node`.
    package func encodeModel(
        identifier: String?, projection: @autoclosure () -> String,
        object: @autoclosure () -> AnyObject? = nil,
        traits: @autoclosure () -> TypeTraits = TypeTraits(),
        isSame: (EarlierModel) -> Bool = { _ in false },
        model: @autoclosure () -> EarlierModel? = nil,
        _ fields: (inout RecordEncoder) throws -> Void
    ) throws {
        guard let identifier, mode != .inlining else { return try encodeInline(fields) }
        guard !identifier.isEmpty else { throw FlattenError.emptyIdentifier(type: projection()) }
        guard mode == .referring else { return encode(identifier) }
        let node = try flattener.node(
            identifier: identifier, projection: projection(), object: object, traits: traits,
            isSame: isSame, model: model, fields)
        writer.append(child: ordinal(of: node))
    }

    private func encodeInline(_ fields: (inout RecordEncoder) throws -> Void) throws {
        let start = writer.count
        writer.append(Wire.fixmap)
        let count = try flattener.nested(behind: writer.count) {
            var record = RecordEncoder(inline: self)
            try fields(&record)
            return record.count
        }
        guard count > 0 else { return }
        var head = ByteWriter()
        head.append(mapOf: count)
        writer.replace(start..<start + 1, with: head)
    }

    /// Returns the ordinal of `node`, and adds the node to the children if it is new.
    func ordinal(of node: Int) -> Int { references.value.ordinal(of: node) }

    /// Leaves out the children to which no value refers any more. Bytes may move, so what
    /// `noteField` has noted does not count afterwards.
    func dropUnusedChildren() throws {
        guard mayHaveUnusedChildren else { return }
        mayHaveUnusedChildren = false
        let (bytes, nodes) = (writer.bytes, children)
        writer.removeAll()
        references.value.removeAll()
        try ByteReader.reading(bytes) { reader in
            var copied = 0
            while reader.position < bytes.count {
                let start = reader.position
                if let ordinal = try reader.readChild() {
                    reader.copy(copied..<start, into: &writer)
                    writer.append(child: self.ordinal(of: nodes[ordinal]))
                    copied = reader.position
                } else {
                    try reader.skipHead()
                }
            }
            reader.copy(copied..<bytes.count, into: &writer)
        }
    }

    // MARK: Failures

    /// Notes that a field was not written to its end. The bytes are not those of a record then, so
    /// the write fails, even if the model swallows the error.
    @usableFromInline
    package func noteUnfinishedField(_ error: any Error, of type: Any.Type) {
        flattener.noteUnfinishedField(error, of: type)
    }

    // MARK: Order

    /// Whether the bytes are those of `orderingBytes`.
    var isOrdering: Bool { mode == .ordering }

    /// Returns the bytes by which an element of a set is ordered. They are the same in every
    /// process, whatever the order of iteration was.
    package func orderingBytes(_ body: (ValueEncoder) throws -> Void) throws -> [UInt8] {
        try bytes(in: .ordering, body)
    }

    /// Returns the bytes of a dictionary's key, by which entries are ordered.
    package func keyBytes(_ body: (ValueEncoder) throws -> Void) throws -> [UInt8] {
        try bytes(in: .inlining, body)
    }

    private func bytes(in mode: Mode, _ body: (ValueEncoder) throws -> Void) throws -> [UInt8] {
        let scratch = ValueEncoder(flattener, mode: mode)
        try body(scratch)
        return scratch.writer.bytes
    }
}
