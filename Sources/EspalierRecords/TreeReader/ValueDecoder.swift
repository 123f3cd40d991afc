/// Reads the values of one record, in order.
///
/// ```swift
/// static func decodeValue(from decoder: inout ValueDecoder) throws -> Self {
///     Self(try decoder.decodeString())
/// }
/// ```
///
/// A ``FieldValue`` receives a decoder and reads exactly one value. A decoder can't be copied or
/// kept: the bytes that it reads belong to the snapshot of one read. It serves the thread that
/// reads.
///
/// Every method throws a failure that makes the read a miss where the value is of another kind, and
/// then leaves the position unchanged. Bytes that break the format make the read a miss even if the
/// caller catches the failure.
///
/// - Complexity: The bytes of each value.
public struct ValueDecoder: ~Copyable {
    package var reader: ByteReader
    @usableFromInline package let treeReader: TreeReader
    /// The positions of the record's children among those of the tree reader.
    @usableFromInline package let children: Range<Int>

    package init(reader: ByteReader, treeReader: TreeReader, children: Range<Int>) {
        self.reader = reader
        self.treeReader = treeReader
        self.children = children
    }

    /// Returns another decoder at the same position.
    @usableFromInline
    package func fork() -> ValueDecoder {
        ValueDecoder(reader: reader, treeReader: treeReader, children: children)
    }

    // MARK: Scalars

    /// Returns the kind of the next value, without moving past it.
    ///
    /// - Throws: A failure that makes the read a miss if no value is left or the record is
    ///   damaged.
    public func kind() throws -> ValueKind { try reader.kind() }

    /// Returns whether the next value is nil or absent, and moves past it if it is.
    ///
    /// - Throws: A failure that makes the read a miss if no value is left.
    public mutating func decodeNull() throws -> Bool {
        let tag = try reader.peek()
        guard tag == Wire.null || tag == Wire.absent else { return false }
        reader.position += 1
        return true
    }

    /// Reads a truth value.
    ///
    /// - Throws: A failure that makes the read a miss if the value is not a Bool.
    public mutating func decodeBool() throws -> Bool {
        guard let value = try reader.readBool() else { throw mismatch("a Bool") }
        return value
    }

    /// Reads an integer of any stored width, if it fits `type`.
    ///
    /// - Parameter type: The type of the result.
    /// - Throws: A failure that makes the read a miss if the value is no integer or does not
    ///   fit `type`.
    public mutating func decodeInteger<I: FixedWidthInteger>(_ type: I.Type = I.self) throws -> I {
        guard let value = try reader.readInteger(type) else {
            throw mismatch("an integer that fits \(type)")
        }
        return value
    }

    /// Reads a number. An integer or a `Float` will do where `Double` holds it exactly.
    ///
    /// - Throws: A failure that makes the read a miss if the value is no number or does not
    ///   fit `Double` exactly.
    public mutating func decodeDouble() throws -> Double {
        if let value = try reader.readDouble() { return value }
        if let value = try reader.readFloat() { return Double(value) }
        let start = reader.position
        if let value = try readInteger(Int64.self, as: Double.init(exactly:)) { return value }
        if let value = try readInteger(UInt64.self, as: Double.init(exactly:)) { return value }
        if let value = try readInteger(Int128.self, as: Double.init(exactly:)) { return value }
        if let value = try readInteger(UInt128.self, as: Double.init(exactly:)) { return value }
        reader.position = start
        throw mismatch("a number that fits Double")
    }

    /// Reads an integer as another number; nil, with nothing read, where it does not fit.
    private mutating func readInteger<I: FixedWidthInteger>(
        _ type: I.Type, as convert: (I) -> Double?
    ) throws -> Double? {
        let start = reader.position
        if let integer = try reader.readInteger(type), let value = convert(integer) { return value }
        reader.position = start
        return nil
    }

    /// Reads a number. An integer or a `Double` will do where `Float` holds it exactly.
    ///
    /// - Throws: A failure that makes the read a miss if the value is no number or does not
    ///   fit `Float` exactly.
    public mutating func decodeFloat() throws -> Float {
        if let value = try reader.readFloat() { return value }
        let start = reader.position
        let value = try decodeDouble()
        if value.isNaN { return Float(value) }
        if let value = Float(exactly: value) { return value }
        reader.position = start
        throw mismatch("a number that fits Float")
    }

    /// Reads text.
    ///
    /// - Throws: A failure that makes the read a miss if the value is not a string.
    public mutating func decodeString() throws -> String {
        guard let value = try reader.readString() else { throw mismatch("a String") }
        return value
    }

    /// Reads a run of bytes.
    ///
    /// - Throws: A failure that makes the read a miss if the value is not a run of bytes.
    public mutating func decodeBytes() throws -> [UInt8] {
        guard let value = try reader.readBytes() else { throw mismatch("bytes") }
        return value
    }

    /// Reads a number that is stored as its decimal digits.
    ///
    /// - Throws: A failure that makes the read a miss if the value is not a decimal number.
    public mutating func decodeDecimalDigits() throws -> String {
        guard let value = try reader.readDecimal() else { throw mismatch("a decimal number") }
        return value
    }

    /// Moves past one value of any kind.
    ///
    /// - Throws: A failure that makes the read a miss if no value is left or the record is
    ///   damaged.
    public mutating func skipValue() throws { try reader.skipValue() }

    package func mismatch(_ expected: String) -> ReadFailure {
        do {
            return ReadFailure(.undecodable("expected \(expected), found \(try reader.kind())"))
        } catch {
            return treeReader.failure(of: error)
        }
    }

    // MARK: Containers

    /// Reads an array. An element whose record is deleted, or that refers back to a record being
    /// read, is left out.
    ///
    /// - Parameter body: Reads one element.
    /// - Throws: A failure if there is no array here, and what `body` throws.
    @inline(__always)
    public mutating func decodeElements(_ body: (inout ValueDecoder) throws -> Void) throws {
        // Inlined, because a closure on a generic element looks up the metadata of its array for
        // each element.
        try decodeElements(numberedFrom: 0, body)
    }

    /// Reads an array of models, and appends them to `models`. What an older tree has is not
    /// decoded one by one: a run of models that have not changed is taken at once.
    ///
    /// - Parameters:
    ///   - hasMaxAge: Whether records of the type must not be older than some age.
    ///   - body: Reads one model.
    @inlinable
    package mutating func decodeModels<Model>(
        into models: inout [Model], hasMaxAge: Bool,
        _ body: (inout ValueDecoder) throws -> Model
    ) throws {
        let older = hasMaxAge ? nil : treeReader.olderModels(ObjectIdentifier(Model.self))
        guard let (tree, list) = older else {
            return try decodeElements { models.append(try body(&$0)) }
        }
        let known: TypedModelList<Model> = list.typed()
        try decodeElements(
            skipping: { decoder, left in
                guard let run = decoder.takeRun(most: left, from: list) else { return 0 }
                let before = models.count
                var node = run.lowerBound
                while node < run.upperBound {
                    models.append(known.models[tree.nextPosition(after: &node)])
                }
                return models.count - before
            },
            { models.append(try body(&$0)) })
    }

    /// Takes over as many as possible of the next `most` models. Returns their nodes in the older
    /// tree.
    @usableFromInline
    mutating func takeRun(most: Int, from list: ModelList) -> Range<Int>? {
        treeReader.takeRun(&reader, most: most, children, from: list)
    }

    /// Returns the number of elements of the array here, as far as it is sensible to reserve memory
    /// for them.
    @usableFromInline
    package func expectedCount() -> Int {
        var ahead = reader
        return min((try? ahead.readArrayCount()) ?? 0, 1_024)
    }

    @usableFromInline
    package var position: Int { reader.position }

    /// Notes how much memory a container of values takes, for a read that is kept in memory: a
    /// small integer takes eight bytes in an array, and one in a record.
    ///
    /// - Parameters:
    ///   - stride: The memory of an element, apart from what it refers to.
    ///   - start: The position of the container.
    @usableFromInline
    package func noteMemory(of count: Int, stride: Int, from start: Int) {
        guard let recorder = treeReader.recorder, count > 0 else { return }
        let memory = 32 + count * stride
        let estimate = Self.memoryPerByte * (reader.position - start)
        // Long text elsewhere in the record takes less than its estimate.
        guard memory > 2 * estimate else { return }
        var first = reader
        first.position = start
        // The memory of a node is estimated from the bytes of its own record.
        if (try? first.readArrayCount()) != nil, (try? first.kind()) == .child { return }
        recorder.note(moreBytes: memory - estimate)
    }

    /// How many bytes of memory a value takes for each byte in its record: an estimate.
    package static var memoryPerByte: Int { 3 }

    /// Reads an array that continues another one. The paths of failures count from `base`.
    @inline(__always)
    package mutating func decodeElements(
        numberedFrom base: Int, _ body: (inout ValueDecoder) throws -> Void
    ) throws {
        try forEachElement(numberedFrom: base, skipping: { _, _ in 0 }, body)
    }

    /// Reads an array. `skip` is called before each element with the number of those left, may move
    /// past some of them, and returns how many these were.
    @usableFromInline
    mutating func decodeElements(
        skipping skip: (inout ValueDecoder, Int) -> Int, _ body: (inout ValueDecoder) throws -> Void
    ) throws {
        try forEachElement(numberedFrom: 0, skipping: skip, body)
    }

    @inline(__always)
    private mutating func forEachElement(
        numberedFrom base: Int, skipping skip: (inout ValueDecoder, Int) -> Int,
        _ body: (inout ValueDecoder) throws -> Void
    ) throws {
        guard let count = try reader.readArrayCount() else { throw mismatch("an array") }
        let treeReader = treeReader
        try treeReader.nested {
            var index = 0
            while index < count {
                let skipped = skip(&self, count - index)
                index += skipped
                guard skipped == 0 else { continue }
                defer { index += 1 }
                let start = reader.position
                do {
                    try body(&self)
                } catch {
                    try leaveOut(error, from: start) { $0.inside(element: base + index) }
                }
            }
        }
    }

    /// Reads a map. An entry whose record is deleted, or that refers back to a record being read,
    /// is left out.
    ///
    /// - Parameters:
    ///   - key: Reads a key.
    ///   - value: Reads the value under a key.
    /// - Throws: A failure if there is no map here, and what `key` and `value` throw.
    public mutating func decodeEntries<Key>(
        key: (inout ValueDecoder) throws -> Key, value: (inout ValueDecoder, Key) throws -> Void
    ) throws {
        guard let count = try reader.readMapCount() else { throw mismatch("a map") }
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

    /// Reads an array of two: a text, and a value that `body` reads by that text.
    ///
    /// Both are left out together: if `body` finds a record deleted, it is this value that is
    /// deleted, not an element of it.
    package mutating func decodeTagged<Value>(
        _ body: (String, inout ValueDecoder) throws -> Value
    ) throws -> Value {
        let start = reader.position
        let treeReader = treeReader
        return try treeReader.nested {
            guard try reader.readArrayCount() == 2, let tag = try reader.readString() else {
                reader.position = start
                throw mismatch("an array of a type name and a model")
            }
            return try body(tag, &self)
        }
    }

    /// Moves past the value at `start` if the failure lets it be left out; throws the failure with
    /// its place otherwise.
    package mutating func leaveOut(
        _ error: any Error, from start: Int, _ placed: (ReadFailure) -> ReadFailure
    ) throws {
        let failure = treeReader.failure(of: error)
        guard failure.leavesOut else { throw placed(failure) }
        reader.position = start
        try reader.skipValue()
    }

    // MARK: Models

    /// Reads a model: from the record that the reference here names, or from the map that stands
    /// here.
    ///
    /// - Parameters:
    ///   - isCacheable: Returns whether reads may share a model of the type.
    ///   - maxAge: Returns how old a record of the type may be.
    @inlinable
    package mutating func decodeModel<Model>(
        _ type: Model.Type, isCacheable: @autoclosure () -> Bool = true,
        maxAge: @autoclosure () -> Duration? = nil,
        _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        if let handle = try readReference() {
            return try treeReader.decodeModel(
                at: handle, as: type, isCacheable: isCacheable(), maxAge: maxAge(), make)
        }
        if let recorder = treeReader.recorder, !isCacheable() { recorder.noteUncacheable() }
        return try decodeFields(make)
    }

    /// Reads a map of fields.
    @inlinable @inline(__always)
    mutating func decodeFields<Value>(
        _ make: (inout RecordDecoder) throws -> Value
    ) throws -> Value {
        let start = try startInline()
        defer { treeReader.leave() }
        var decoder = RecordDecoder(inline: fork(), count: start.count)
        let value = try make(&decoder)
        try finishInline(at: decoder.endPosition, start: start.position)
        return value
    }

    /// Returns the record that the reference here names; nil when there is no reference here.
    @usableFromInline
    mutating func readReference() throws -> Handle? {
        guard let ordinal = try reader.readChild() else { return nil }
        return try treeReader.child(ordinal, of: children)
    }

    /// Returns the record that the reference here names, without moving past it; nil when there is
    /// no reference here.
    package func nextReference() throws -> Handle? {
        var ahead = fork()
        return try ahead.readReference()
    }

    /// Steps into the map that stands here.
    @usableFromInline
    mutating func startInline() throws -> (position: Int, count: Int) {
        let start = reader.position
        guard let count = try reader.readMapCount() else { throw mismatch("a model") }
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
