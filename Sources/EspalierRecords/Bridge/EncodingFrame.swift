/// One value that encodes itself: the `Encoder` its `encode(to:)` receives, behind all of its containers.
///
/// The frame of a model or of an inline value streams: containers write straight into the record's `ValueEncoder`. A nested
/// container or a super encoder, which may be filled at any time, is a frame with a buffer of its own; in the stream
/// stands a null in its place, so that the stream is well-formed throughout, and its bytes are put there when the value is
/// finished. A buffer takes the place of the encoder's writer while it is written to, so that references share the
/// record's children.
///
///     keyed, inline     fixmap (0), name, value, name, value ...      the count is set at the end
///     keyed, node       value, value ...                              the names go to the shape
///     unkeyed           fixarray (0), value, value ...
final class EncodingFrame {
    enum Form {
        case undecided, fields, elements, whole
    }

    let values: ValueEncoder
    /// The fields written, where the form is `fields`.
    private var record: RecordEncoder?
    private(set) var form = Form.undecided
    /// Whether the value is a model, which consists of fields and whose head is not this frame's to write.
    let isModel: Bool
    private var start: Int
    private var elementCount = 0
    /// The last fields and elements that have a buffer of their own, by slot.
    private var pieces: [Int: EncodingFrame] = [:]
    private var seenNames: UInt64 = 0

    /// For a frame with a buffer: the streaming frame it belongs to.
    private let root: EncodingFrame?
    private var buffer = ByteWriter()
    private let level: Int
    private var isBusy = false
    private var isClosed = false
    private var refusal: (any Error)?

    /// Where the value stands, for `codingPath`.
    private let parent: EncodingFrame?
    private let key: BridgeKey?
    private var currentKey: BridgeKey?

    /// A model's, whose fields go to `record`.
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

    /// An inline value's, which writes where `values` stands.
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

    // Not by recursion, because errors are made where the stack ends.
    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var frame: EncodingFrame? = self
        while let here = frame {
            if let key = here.key { path.append(key) }
            frame = here.parent
        }
        return path.reversed()
    }

    var count: Int { record?.count ?? elementCount }

    /// The identifier of the record whose frame this is.
    var recordIdentifier: String? {
        guard isModel, record?.isInline == false else { return nil }
        return values.flattener.innermostIdentifier
    }

    // MARK: Forms

    /// Decides the form, or checks that it is the one decided.
    func begin(_ form: Form) throws {
        try checkOpen()
        guard self.form != form else { return }
        guard self.form == .undecided else { throw invalid("a value encodes itself in containers of two kinds") }
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

    // MARK: Writing

    /// Writes one field. A name that was written before gets the new value.
    @inline(__always)
    func field(_ name: String, _ write: (ValueEncoder) throws -> Void) throws {
        if root == nil, !isBusy, !isClosed, record?.isExpected(name) == true {
            record?.startField(name)
            return try value(write)
        }
        try unexpectedField(name, write)
    }

    private func unexpectedField(_ name: String, _ write: (ValueEncoder) throws -> Void) throws {
        try checkOpen()
        try writing {
            if let slot = slotWritten(name) {
                let piece = EncodingFrame(nestedIn: self, key: BridgeKey(name))
                pieces[slot] = piece
                try piece.whole(write)
            } else {
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

    /// Writes the value as a whole; again, in place of what was written.
    func whole(_ write: (ValueEncoder) throws -> Void) throws {
        if isModel { return try field(BridgeKey.wholeValue, write) }
        try begin(.whole)
        try writing {
            values.writer.truncate(to: start)
            try value(write)
        }
    }

    /// A value of any `Encodable` type, by its strategy.
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

    // A lenient `encode(to:)` may swallow what was thrown: null keeps the stream well-formed.
    @inline(__always)
    private func value(_ write: (ValueEncoder) throws -> Void) throws {
        let start = values.writer.count
        do {
            try write(values)
        } catch {
            values.writer.truncate(to: start)
            values.encodeNull()
            throw error
        }
    }

    /// Runs `body` with this frame's bytes in the encoder's writer.
    private func writing<R>(_ body: () throws -> R) throws -> R {
        guard !isBusy else { throw invalid("a container was written to while one of its values is being encoded") }
        guard let root else { return try body() }
        let rootWasBusy = root.isBusy
        root.isBusy = true
        swap(&values.writer, &buffer)
        defer {
            swap(&values.writer, &buffer)
            root.isBusy = rootWasBusy
        }
        return try body()
    }

    // MARK: Nesting

    /// The frame of a nested container or a super encoder under `name`; a container asked for again is continued.
    func nested(field name: String, form: Form) throws -> EncodingFrame {
        try checkOpen()
        if let slot = try writing({ slotWritten(name) }) {
            if let piece = pieces[slot], piece.form == form, form != .undecided { return piece }
            return try nested(BridgeKey(name), slot: slot, form: form)
        }
        let slot = count
        try field(name) { $0.encodeNull() }
        return try nested(BridgeKey(name), slot: slot, form: form)
    }

    func nestedElement(form: Form) throws -> EncodingFrame {
        let slot = count
        try element { $0.encodeNull() }
        return try nested(BridgeKey(index: slot), slot: slot, form: form)
    }

    private func nested(_ key: BridgeKey, slot: Int, form: Form) throws -> EncodingFrame {
        try values.flattener.allow(levels: level + 1)
        let piece = EncodingFrame(nestedIn: self, key: key)
        pieces[slot] = piece
        if form != .undecided { try piece.begin(form) }
        return piece
    }

    // MARK: Names

    private func slotWritten(_ name: String) -> Int? {
        guard let record else { return nil }
        guard record.isInline else { return record.slot(ofWritten: name) }
        // Most names are new, which one bit each proves; else the names in the stream are looked through.
        let utf8 = name.utf8
        let hash = utf8.count &* 31 &+ Int(utf8.first ?? 0) &* 7 &+ Int(utf8.last ?? 0)
        let bit: UInt64 = 1 << UInt64(hash & 63)
        defer { seenNames |= bit }
        guard seenNames & bit != 0 else { return nil }
        return try? ByteReader.reading(values.writer.bytes) { reader in
            reader.position = bodyStart
            for slot in 0..<count {
                guard let length = try reader.takeStringLength() else { return nil }
                if try reader.matches(name, count: length) { return slot }
                try reader.skipValue()
            }
            return nil
        }
    }

    private var bodyStart: Int { isModel ? start : start + 1 }

    // MARK: Finishing

    /// The model's fields, complete.
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
        let bytes = values.writer.bytes
        values.writer.truncate(to: bodyStart)
        try ByteReader.reading(bytes) { reader in
            reader.position = bodyStart
            for slot in 0..<count {
                if form == .fields, record?.isInline == true { try copyValue(&reader) }
                if let piece = pieces[slot] {
                    try reader.skipValue()
                    try piece.finishBuffer()
                    values.writer.append(piece.buffer.bytes)
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

    /// Finishes a nested frame into the encoder's writer.
    private func finishBuffer() throws {
        swap(&values.writer, &buffer)
        defer { swap(&values.writer, &buffer) }
        try finish()
    }

    private func setCount() {
        if count <= 15 {
            values.writer.overwrite(at: start, with: (form == .fields ? Wire.fixmap : Wire.fixarray) | UInt8(count))
        } else {
            var head = ByteWriter()
            if form == .fields { head.append(mapOf: count) } else { head.append(arrayOf: count) }
            values.writer.replace(start..<start + 1, with: head.bytes)
        }
    }

    /// Whatever users kept of the frame refuses to write from now on.
    func close() {
        isClosed = true
        for piece in pieces.values { piece.close() }
        pieces = [:]
    }

    // MARK: Errors

    /// Keeps an error to be thrown when the value is finished.
    func refuse(_ error: any Error) {
        let frame = root ?? self
        if frame.refusal == nil { frame.refusal = error }
    }

    /// A frame that refuses to be written to.
    func refused() -> EncodingFrame {
        let frame = EncodingFrame(nestedIn: self, key: BridgeKey(""))
        frame.isClosed = true
        return frame
    }

    private func checkOpen() throws {
        if let refusal = (root ?? self).refusal { throw refusal }
        if isClosed || root?.isClosed == true { throw invalid("the value was encoded already; its encoder can't be kept") }
    }

    func invalid(_ what: String) -> EncodingError {
        .invalidValue((), EncodingError.Context(codingPath: codingPath, debugDescription: what))
    }
}
