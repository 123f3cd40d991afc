/// One value that encodes itself: the `Encoder` that its `encode(to:)` receives, and the storage
/// behind all of its containers.
///
/// The frame of a model or of an inline value streams: containers write straight into the record's
/// ``ValueEncoder``. A nested container or a super encoder, which may be filled at any time, is a
/// frame with a buffer of its own. In the stream a null stands in its place, so that the stream is
/// well-formed throughout, and its bytes replace the null when the value is finished. While a
/// buffer is written to, it takes the place of the encoder's writer, so that references share the
/// record's children.
///
///     keyed, inline     fixmap (0), name, value, name, value ...      the count is set at the end
///     keyed, node       value, value ...                              the names go to the shape
///     unkeyed           fixarray (0), value, value ...
final class EncodingFrame: BridgeFrame {
    enum Form {
        case undecided, fields, elements, whole
    }

    // immutable
    let values: ValueEncoder
    /// Whether the value is a model, which consists of fields and whose head the frame does not
    /// write.
    private let isModel: Bool
    private let start: Int
    /// The streaming frame to which a frame with a buffer belongs; nil for a streaming frame.
    private let root: EncodingFrame?
    private let level: Int
    let parent: EncodingFrame?
    let key: BridgeKey?

    // confined to the thread that flattens
    /// The fields written, where the form is `fields`.
    private var record: RecordEncoder?
    private var form = Form.undecided
    private var elementCount = 0
    /// The last frame with a buffer for each field or element, by slot.
    private var pieces: [Int: EncodingFrame] = [:]
    /// Pieces that a later piece has replaced. Users may still write to them.
    private var replaced: [EncodingFrame] = []
    private var seenNames: UInt64 = 0
    /// The slots of many names, so that a repeated name is found at once.
    private var names: [Identifier: Int]?
    private static let searchedNames = 32
    private var buffer = ByteWriter()
    private var isBusy = false
    private var isClosed = false
    private var refusal: (any Error)?
    private var currentKey: BridgeKey?

    /// Makes the frame of a model, whose fields go to `record`.
    init(fields record: RecordEncoder) {
        values = record.values
        self.record = record
        form = .fields
        isModel = true
        start = values.writer.count
        root = nil
        level = 0
        parent = record.isInline ? values.flattener.bridge.enclosing : nil
        key = parent?.currentKey
    }

    /// Makes the frame of an inline value, which writes where `values` stands.
    init(streaming values: ValueEncoder) {
        self.values = values
        isModel = false
        start = values.writer.count
        root = nil
        level = 0
        parent = values.flattener.bridge.enclosing
        key = parent?.currentKey
    }

    private init(nestedIn parent: EncodingFrame, key: BridgeKey) {
        values = parent.values
        isModel = false
        start = 0
        root = parent.root ?? parent
        level = parent.level + 1
        self.parent = parent
        self.key = key
    }

    /// The number of fields or elements written.
    var count: Int { record?.count ?? elementCount }

    /// The position of the first field or element.
    private var bodyStart: Int { isModel ? start : start + 1 }

    // MARK: Writing

    /// Decides the form, or checks that the form is the decided one.
    private func begin(_ form: Form) throws {
        try checkOpen()
        guard self.form != form else { return }
        guard self.form == .undecided else {
            throw invalid("a value encodes itself in containers of two kinds")
        }
        self.form = form
        try writing {
            switch form {
            case .fields:
                values.writer.append(Wire.fixmap)
                record = RecordEncoder(inline: values)
            case .elements: values.writer.append(Wire.fixarray)
            case .undecided, .whole: break
            }
        }
    }

    /// Writes one field. A field that was written before gets the new value.
    @inline(__always)
    func field(_ name: String, _ write: (ValueEncoder) throws -> Void) throws {
        if root == nil, !isBusy, !isClosed, record?.startExpected(name) == true {
            return try value(write)
        }
        try unexpectedField(name, write)
    }

    private func unexpectedField(_ name: String, _ write: (ValueEncoder) throws -> Void) throws {
        try checkOpen()
        try writing {
            if let slot = slotWritten(name) {
                values.mayHaveUnusedChildren = true
                let piece = EncodingFrame(nestedIn: self, key: BridgeKey(name))
                put(piece, in: slot)
                try piece.whole(write)
            } else {
                names?[Identifier(name)] = count
                record?.startField(name)
                try value(write)
            }
        }
    }

    /// Writes one element.
    func element(_ write: (ValueEncoder) throws -> Void) throws {
        try checkOpen()
        try writing {
            elementCount += 1
            try value(write)
        }
    }

    /// Writes the value as a whole. A second call replaces the value.
    private func whole(_ write: (ValueEncoder) throws -> Void) throws {
        if isModel { return try field(BridgeKey.wholeValue, write) }
        try begin(.whole)
        try writing {
            if values.writer.count > start { values.mayHaveUnusedChildren = true }
            values.writer.truncate(to: start)
            try value(write)
        }
    }

    /// Writes a value of any `Encodable` type, by its strategy.
    @inline(__always)
    func encode<Value: Encodable>(_ value: Value, at key: BridgeKey?) throws {
        let bridge = values.flattener.bridge
        let strategy = bridge.strategy(for: Value.self)
        isBusy = true
        defer { isBusy = false }
        guard strategy.needsPath else { return try strategy.encode(value, into: values) }
        let enclosing = bridge.enclosing
        currentKey = key
        bridge.enclosing = self
        defer { bridge.enclosing = enclosing }
        try strategy.encode(value, into: values)
    }

    // A lenient `encode(to:)` may swallow the error: null keeps the stream well-formed.
    @inline(__always)
    private func value(_ write: (ValueEncoder) throws -> Void) throws {
        let start = values.writer.count
        let isIntact = !values.flattener.hasUnfinishedField
        do {
            try write(values)
        } catch {
            if isIntact { values.flattener.forgetUnfinishedField() }
            values.mayHaveUnusedChildren = true
            values.writer.truncate(to: start)
            values.encodeNull()
            throw error
        }
    }

    /// Runs `body` with this frame's bytes in the encoder's writer.
    private func writing<R>(_ body: () throws -> R) throws -> R {
        guard !isBusy else {
            throw invalid("a container was written to while one of its values is being encoded")
        }
        guard let root else { return try body() }
        let rootWasBusy = root.isBusy
        root.isBusy = true
        // A position in the buffer is not a position in the record.
        let marksFields = values.marksFields
        values.marksFields = false
        swap(&values.writer, &buffer)
        defer {
            swap(&values.writer, &buffer)
            values.marksFields = marksFields
            root.isBusy = rootWasBusy
        }
        return try body()
    }

    // MARK: Nested containers and super encoders

    /// Returns the frame of a nested container or a super encoder under `name`. A container that is
    /// asked for again is continued.
    private func nested(field name: String, form: Form) throws -> EncodingFrame {
        try checkOpen()
        if let slot = try writing({ slotWritten(name) }) {
            if let piece = pieces[slot], piece.form == form, form != .undecided { return piece }
            values.mayHaveUnusedChildren = true
            return try nested(BridgeKey(name), slot: slot, form: form)
        }
        let slot = count
        try field(name) { $0.encodeNull() }
        return try nested(BridgeKey(name), slot: slot, form: form)
    }

    private func nestedElement(form: Form) throws -> EncodingFrame {
        let slot = count
        try element { $0.encodeNull() }
        return try nested(BridgeKey(index: slot), slot: slot, form: form)
    }

    private func nested(_ key: BridgeKey, slot: Int, form: Form) throws -> EncodingFrame {
        try values.flattener.checkDepth(adding: level + 1)
        let piece = EncodingFrame(nestedIn: self, key: key)
        put(piece, in: slot)
        if form != .undecided { try piece.begin(form) }
        return piece
    }

    private func put(_ piece: EncodingFrame, in slot: Int) {
        if let former = pieces.updateValue(piece, forKey: slot) { replaced.append(former) }
    }

    /// Returns the slot of a field written before under the same name.
    private func slotWritten(_ name: String) -> Int? {
        guard let record else { return nil }
        guard record.isInline else { return self.record?.slot(ofWritten: name) }
        if let names { return names[Identifier(name)] }
        // Most names are new, which one bit each proves. Otherwise the names in the stream are
        // searched, or listed if there are many.
        let utf8 = name.utf8
        let hash = utf8.count &* 31 &+ Int(utf8.first ?? 0) &* 7 &+ Int(utf8.last ?? 0)
        let bit: UInt64 = 1 << UInt64(hash & 63)
        defer { seenNames |= bit }
        guard seenNames & bit != 0 else { return nil }
        if count > Self.searchedNames, let names = try? writtenNames() {
            self.names = names
            return names[Identifier(name)]
        }
        return try? values.writer.reading { reader in
            reader.position = bodyStart
            for slot in 0..<count {
                guard let length = try reader.readStringLength() else { return nil }
                if try reader.matches(name, count: length) { return slot }
                try reader.skipValue()
            }
            return nil
        }
    }

    /// Returns the slots of the names in the stream.
    private func writtenNames() throws -> [Identifier: Int] {
        try values.writer.reading { reader in
            reader.position = bodyStart
            var names: [Identifier: Int] = [:]
            for slot in 0..<count {
                guard let length = try reader.readStringLength() else { return names }
                let name = Identifier(try reader.string(count: length))
                if names[name] == nil { names[name] = slot }
                try reader.skipValue()
            }
            return names
        }
    }

    // MARK: Finishing

    /// Finishes a model and returns the encoder of its fields.
    func finishFields() throws -> RecordEncoder {
        try finish()
        guard let record else { throw invalid("a model encodes no fields") }
        return record
    }

    /// Puts the pieces and the count in their places.
    func finish() throws {
        isClosed = true
        if let refusal = root?.refusal ?? refusal { throw refusal }
        switch form {
        case .undecided: values.writer.append(Wire.fixmap)
        case .whole: break
        case .fields, .elements:
            if !pieces.isEmpty { try splice() }
            if !isModel, count > 0 { setCount() }
        }
    }

    private func splice() throws {
        // What stands before is not copied: an array of such values would be copied at each.
        let bytes = values.writer.bytes(from: bodyStart)
        values.writer.truncate(to: bodyStart)
        let fieldStarts = record?.isInline == false ? values.takeFieldStarts() : []
        try ByteReader.reading(bytes) { reader in
            for slot in 0..<count {
                if form == .fields, record?.isInline == true { try copyValue(&reader) }
                if fieldStarts.contains(bodyStart + reader.position) { values.noteField() }
                if let piece = pieces[slot] {
                    try reader.skipValue()
                    try piece.finishBuffer()
                    values.writer.append(piece.buffer)
                } else {
                    try copyValue(&reader)
                }
            }
        }
    }

    private func copyValue(_ reader: inout ByteReader) throws {
        let from = reader.position
        try reader.skipValue()
        reader.copy(from..<reader.position, into: &values.writer)
    }

    /// Finishes a nested frame into its buffer.
    private func finishBuffer() throws {
        try values.flattener.checkDepth(adding: 0)
        swap(&values.writer, &buffer)
        defer { swap(&values.writer, &buffer) }
        try finish()
    }

    private func setCount() {
        if count <= 15 {
            values.writer.overwrite(
                at: start, with: (form == .fields ? Wire.fixmap : Wire.fixarray) | UInt8(count))
        } else {
            var head = ByteWriter()
            if form == .fields { head.append(mapOf: count) } else { head.append(arrayOf: count) }
            values.writer.replace(start..<start + 1, with: head)
        }
    }

    /// Closes the frame: containers that users keep throw from now on.
    func close() {
        isClosed = true
        guard !pieces.isEmpty else { return }
        // Pieces and parents refer to each other. The innermost are released first, so that no
        // release starts a chain of releases.
        var frames = [self]
        var next = 0
        while next < frames.count {
            frames += frames[next].pieces.values
            frames += frames[next].replaced
            next += 1
        }
        while let frame = frames.popLast() {
            frame.pieces = [:]
            frame.replaced = []
        }
    }

    // MARK: Errors

    // `Encoder` can't throw where it returns containers: the first error is kept, and thrown when
    // the value is finished.

    func nestedOrRefusing(field name: String, form: Form) -> EncodingFrame {
        refusing { try nested(field: name, form: form) } ?? refused()
    }

    func nestedElementOrRefusing(form: Form) -> EncodingFrame {
        refusing { try nestedElement(form: form) } ?? refused()
    }

    @discardableResult
    private func refusing<R>(_ body: () throws -> R) -> R? {
        do {
            return try body()
        } catch {
            let frame = root ?? self
            if frame.refusal == nil { frame.refusal = error }
            return nil
        }
    }

    /// Returns a frame that refuses to be written to.
    private func refused() -> EncodingFrame {
        let frame = EncodingFrame(nestedIn: self, key: BridgeKey(""))
        frame.isClosed = true
        return frame
    }

    private func checkOpen() throws {
        if let refusal = (root ?? self).refusal { throw refusal }
        if isClosed || root?.isClosed == true {
            throw invalid("the value was encoded already; its encoder can't be kept")
        }
    }

    private func invalid(_ what: String) -> EncodingError {
        .invalidValue((), EncodingError.Context(codingPath: codingPath, debugDescription: what))
    }
}

extension EncodingFrame: Encoder {
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        refusing { try begin(.fields) }
        return KeyedEncodingContainer(KeyedFieldEncoding<Key>(frame: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if isModel {
            return ElementEncoding(
                frame: nestedOrRefusing(field: BridgeKey.wholeValue, form: .elements))
        }
        refusing { try begin(.elements) }
        return ElementEncoding(frame: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

/// The single-value container of a value is the frame itself, so that it costs no allocation.
extension EncodingFrame: SingleValueEncodingContainer {
    func encodeNil() throws { try whole { $0.encodeNull() } }

    func encode<Value: Encodable>(_ value: Value) throws {
        // A wrapper with the identifier of the model that it wraps has that model's fields: a
        // reference would lead back to this very record.
        if isModel, record?.isInline == false,
            let identifier = values.flattener.innermostIdentifier,
            let model = value as? any IdentifiedModel,
            model.modelIdentifier?.hasSameBytes(as: identifier) == true
        {
            return try value.encode(to: self)
        }
        try whole { _ in try encode(value, at: nil) }
    }

    func encode(_ value: Bool) throws { try whole { $0.encode(value) } }
    func encode(_ value: String) throws { try whole { $0.encode(value) } }
    func encode(_ value: Double) throws { try whole { $0.encode(value) } }
    func encode(_ value: Float) throws { try whole { $0.encode(value) } }
    func encode(_ value: Int) throws { try whole { $0.encode(Int64(value)) } }
    func encode(_ value: Int8) throws { try whole { $0.encode(Int64(value)) } }
    func encode(_ value: Int16) throws { try whole { $0.encode(Int64(value)) } }
    func encode(_ value: Int32) throws { try whole { $0.encode(Int64(value)) } }
    func encode(_ value: Int64) throws { try whole { $0.encode(Int64(value)) } }
    func encode(_ value: UInt) throws { try whole { $0.encode(UInt64(value)) } }
    func encode(_ value: UInt8) throws { try whole { $0.encode(UInt64(value)) } }
    func encode(_ value: UInt16) throws { try whole { $0.encode(UInt64(value)) } }
    func encode(_ value: UInt32) throws { try whole { $0.encode(UInt64(value)) } }
    func encode(_ value: UInt64) throws { try whole { $0.encode(UInt64(value)) } }
    func encode(_ value: Int128) throws { try whole { value.encodeValue(into: $0) } }
    func encode(_ value: UInt128) throws { try whole { value.encodeValue(into: $0) } }
}
