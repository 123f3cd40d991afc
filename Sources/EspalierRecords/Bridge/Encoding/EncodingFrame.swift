/// One value that encodes itself: the `Encoder` its `encode(to:)` receives, behind all of its
/// containers.
///
/// The frame of a model or of an inline value streams: containers write straight into the record's
/// `ValueEncoder`. A nested container or a super encoder, which may be filled at any time, is a
/// frame with a buffer of its own; in the stream stands a null in its place, so that the stream is
/// well-formed throughout, and its bytes are put there when the value is finished. A buffer takes
/// the place of the encoder's writer while it is written to, so that references share the record's
/// children.
///
///     keyed, inline     fixmap (0), name, value, name, value ...      the count is set at the end
///     keyed, node       value, value ...                              the names go to the shape
///     unkeyed           fixarray (0), value, value ...
final class EncodingFrame: BridgeFrame {
    enum Form {
        case undecided, fields, elements, whole
    }

    let values: ValueEncoder
    /// The fields written, where the form is `fields`.
    var record: RecordEncoder?
    var form = Form.undecided
    /// Whether the value is a model, which consists of fields and whose head is not this frame's to
    /// write.
    let isModel: Bool
    let start: Int
    private var elementCount = 0
    /// The last fields and elements that have a buffer of their own, by slot.
    var pieces: [Int: EncodingFrame] = [:]
    /// Pieces that a later one took the place of: users may still write to them.
    var replaced: [EncodingFrame] = []
    var seenNames: UInt64 = 0

    /// For a frame with a buffer: the streaming frame it belongs to.
    let root: EncodingFrame?
    var buffer = ByteWriter()
    let level: Int
    private var isBusy = false
    var isClosed = false
    var refusal: (any Error)?

    /// Where the value stands, for `codingPath`.
    let parent: EncodingFrame?
    let key: BridgeKey?
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

    init(nestedIn parent: EncodingFrame, key: BridgeKey) {
        values = parent.values
        isModel = false
        start = 0
        root = parent.root ?? parent
        level = parent.level + 1
        self.parent = parent
        self.key = key
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

    // MARK: Writing

    /// Writes one field. A name that was written before gets the new value.
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
                let piece = EncodingFrame(nestedIn: self, key: BridgeKey(name))
                put(piece, in: slot)
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
    func writing<R>(_ body: () throws -> R) throws -> R {
        guard !isBusy else {
            throw invalid("a container was written to while one of its values is being encoded")
        }
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

}
