import EspalierCompression
public import EspalierRecords
import Synchronization

/// The name of a record that caches share: an identifier or a key, and what it is the name of.
public struct SharedName: Hashable, Sendable, CustomStringConvertible {
    /// Whether the record is that of a node, of a key, or a collection.
    public let kind: NameSpace
    /// The node's identifier, or the key.
    public let identifier: String
    /// XXH64 of the identifier, seeded with the kind (1 node, 2 key, 3 collection). It is the same
    /// in every process, and the seed of the record's check: a record under another name is
    /// damaged.
    public let stableHash: UInt64

    /// Makes a name.
    ///
    /// - Parameters:
    ///   - kind: A node, a key or a collection; not a segment.
    ///   - identifier: The node's identifier, or the key.
    public init(_ kind: NameSpace, _ identifier: String) {
        self.kind = kind
        self.identifier = identifier
        stableHash = identifier.xxHash64(seed: UInt64(kind.rawValue))
    }

    /// Identifiers are compared by their bytes.
    public static func == (a: SharedName, b: SharedName) -> Bool {
        a.stableHash == b.stableHash && a.kind == b.kind
            && a.identifier.hasSameBytes(as: b.identifier)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(stableHash) }

    /// The name as text: `node Person:1`.
    public var description: String { "\(kind) \(identifier)" }
}

/// When and by whom a shared record was written: a hybrid logical clock and a host.
///
/// Later versions of a record are greater. See ``HybridClock``.
public struct RecordVersion: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970 in the high 48 bits, a counter in the low 16 bits.
    public let time: UInt64
    /// The number of the host.
    public let host: UInt64

    /// The first time that no record has, in the year 6429. No clock could give a later version.
    static let endOfTime: UInt64 = 1 << 63

    /// The number of bytes of a version in a record.
    public static let byteCount = 16

    /// Makes a version.
    ///
    /// - Parameters:
    ///   - time: Milliseconds since 1970 in the high 48 bits, a counter in the low 16 bits.
    ///   - host: The number of the host.
    public init(time: UInt64, host: UInt64) {
        self.time = time
        self.host = host
    }

    /// Reads a version in the form that it has in records.
    ///
    /// - Parameter bytes: 16 bytes; nil for any other number of bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        let numbers = [bytes[..<8], bytes[8...]].map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
        (time, host) = (numbers[0], numbers[1])
    }

    /// The version in the form that it has in records: both numbers, big-endian.
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.append(integer: time)
        writer.append(integer: host)
        return writer.bytes
    }

    /// Milliseconds since 1970.
    public var milliseconds: UInt64 { time >> 16 }

    public static func < (a: RecordVersion, b: RecordVersion) -> Bool {
        (a.time, a.host) < (b.time, b.host)
    }
}

/// Why the bytes of a shared record can't be used. The record is a miss.
public enum SharedRecordError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The shape of that fingerprint has to be looked up first.
    case unknownShape(UInt64)
    /// A later version of the library has written the record.
    case newerFormat(Int)
    /// The bytes are not those of a record of that name.
    case damaged(String)

    /// The error in words, without contents of the record.
    public var description: String {
        switch self {
        case .unknownShape(let fingerprint):
            "The server does not have the shape \(String(fingerprint, radix: 16)) of the record."
        case .newerFormat(let format):
            "The record has format \(format), and this library reads format 1. Update the library."
        case .damaged(let detail):
            "The value is not an intact record of that name: \(detail)."
        }
    }
}

/// A record as caches on several hosts share it: named instead of numbered, and dated.
///
///     record  = format (1), flags, time (8 bytes), host (8 bytes), [maximum age (varint)],
///               content, check
///     flags   = bits 0-1: 0 node, 1 key, 2 collection; bit 2 tombstone, bit 3 on a cycle,
///               bit 4 a maximum age follows, bit 5 the content is a zstd frame
///     content = fingerprint of the shape (8 bytes, 0 for none), count of children (varint),
///               children (text), values
///     check   = XXH64 of the bytes before, seeded with the `stableHash` of the name
///
/// `docs/FLEET.md` describes the format for other languages.
public struct SharedRecord: Sendable {
    /// When and by whom the record was written.
    public let version: RecordVersion
    /// How old the record may be, in seconds; nil if it does not expire.
    public let maxAge: UInt64?
    /// Whether the record stands for one that was deleted.
    public let isTombstone: Bool
    /// Whether the node was met inside itself.
    let isOnCycle: Bool
    private let content: Content

    static let format: UInt8 = 1

    enum Flag {
        static let kindMask: UInt8 = 0b11
        static let tombstone: UInt8 = 1 << 2
        static let onCycle: UInt8 = 1 << 3
        static let maxAge: UInt8 = 1 << 4
        static let compressed: UInt8 = 1 << 5
    }

    /// Content of fewer bytes is not compressed: a frame would save nothing.
    static let shortestFrame = 192
    /// The most bytes of a record's content.
    private static let limit = 256 << 20

    /// Reads a record.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - name: The name under which they stood.
    ///   - shapes: The shapes that are known.
    /// - Throws: `.unknownShape` for a shape that is not among `shapes`, `.newerFormat` and
    ///   `.damaged` for bytes that this library can't read.
    public init(
        _ bytes: [UInt8], named name: SharedName, _ shapes: SharedShapes
    ) throws(SharedRecordError) {
        do {
            self = try ByteReader.reading(bytes) { reader in
                try Self(&reader, of: bytes, named: name, shapes)
            }
        } catch let error as SharedRecordError {
            throw error
        } catch let error as FormatError {
            throw .damaged("\(error)")
        } catch {
            throw .damaged("it can't be decompressed")
        }
    }

    private init(
        _ reader: inout ByteReader, of bytes: [UInt8], named name: SharedName,
        _ shapes: SharedShapes
    ) throws {
        let whole = reader
        let format = try reader.byte()
        guard format == Self.format else {
            // Text and other foreign values begin with greater bytes.
            throw format > Self.format && format < 32
                ? SharedRecordError.newerFormat(Int(format)) : .damaged("its format is \(format)")
        }
        let end = try whole.verifiedEnd(seed: name.stableHash)
        reader = reader.limited(to: end)
        let flags = try reader.byte()
        guard flags & Flag.kindMask == name.kind.sharedCode else {
            throw SharedRecordError.damaged("it is of another kind")
        }
        version = RecordVersion(time: try reader.integer(), host: try reader.integer())
        guard version.time < RecordVersion.endOfTime else {
            throw SharedRecordError.damaged("its version is no time")
        }
        maxAge = flags & Flag.maxAge != 0 ? try reader.varint() : nil
        isOnCycle = flags & Flag.onCycle != 0
        isTombstone = flags & Flag.tombstone != 0
        guard !isTombstone else {
            content = .none
            return
        }
        content =
            try flags & Flag.compressed != 0
            ? Self.decompress(reader) { try Content(&$0, shapes) }
            : Content(&reader, of: bytes, shapes)
    }

    /// Makes a tombstone.
    init(tombstone version: RecordVersion) {
        self.version = version
        (maxAge, isTombstone, isOnCycle) = (nil, true, false)
        content = .none
    }

    /// Makes a record.
    init(
        _ version: RecordVersion, maxAge: UInt64?, isOnCycle: Bool, shape: Shape,
        children: [String], values: [UInt8]
    ) {
        self.version = version
        self.maxAge = maxAge
        self.isOnCycle = isOnCycle
        content = Content(shape, children, values[...])
        isTombstone = false
    }

    /// The identifiers of the nodes to which the record refers, each once.
    public var children: [String] { content.children }

    /// The approximate bytes that a cache stores for the record.
    public var byteCount: Int { content.children.reduce(values.count) { $0 + $1.utf8.count } }

    /// The shape of a node; the empty one for a key or a collection.
    var shape: Shape { content.shape }

    /// The values of a node's fields, the value of a key, or the array of a collection's elements.
    var values: ArraySlice<UInt8> { content.values }

    /// Returns the version in the bytes of a record, and whether it is a tombstone, without reading
    /// the rest; nil if the bytes are too short or of another format.
    ///
    /// - Parameter header: The bytes, or the first 18 of them.
    public static func version(
        of header: [UInt8]
    ) -> (version: RecordVersion, isTombstone: Bool)? {
        ByteReader.reading(header) { reader in
            guard let format = try? reader.byte(), format == Self.format,
                let flags = try? reader.byte(), let time = try? reader.integer(UInt64.self),
                let host = try? reader.integer(UInt64.self)
            else { return nil }
            return (RecordVersion(time: time, host: host), flags & Flag.tombstone != 0)
        }
    }

    /// What a record holds, apart from its version. An object, so that a copy of a record counts
    /// one reference.
    private final class Content: Sendable {
        let shape: Shape
        let children: [String]
        let values: ArraySlice<UInt8>

        static let none = Content(.none, [], [])

        init(_ shape: Shape, _ children: [String], _ values: ArraySlice<UInt8>) {
            self.shape = shape
            self.children = children
            self.values = values
        }

        /// - Parameter bytes: The bytes that the reader reads, in which the values stay; nil to
        ///   copy the values.
        init(
            _ reader: inout ByteReader, of bytes: [UInt8]? = nil, _ shapes: SharedShapes
        ) throws {
            let fingerprint = try reader.integer(UInt64.self)
            if fingerprint == 0 {
                shape = .none
            } else if let known = shapes.shape(fingerprint) {
                shape = known
            } else {
                throw SharedRecordError.unknownShape(fingerprint)
            }
            var children: [String] = []
            let count = try reader.count()
            children.reserveCapacity(count)
            for _ in 0..<count { children.append(try reader.string(count: reader.count())) }
            self.children = children
            values =
                try bytes.map { $0[reader.position..<reader.end] }
                ?? reader.bytes(count: reader.remaining)[...]
        }
    }

    private static func decompress<R>(
        _ frame: ByteReader, _ body: (inout ByteReader) throws -> R
    ) throws -> R {
        let decompressor = try Decompressor.borrow()
        defer { decompressor.giveBack() }
        // The decompressor puts the magic number in front again.
        let start = frame.position + 4
        guard start <= frame.end else { throw FormatError.truncated }
        let count = try frame.withBytes(start..<frame.end) {
            try decompressor.load($0, limit: limit)
        }
        let buffer = try RecordBuffer(count: count) { output in
            try decompressor.decompress(into: &output, with: nil)
        }
        var reader = buffer.reader
        return try withExtendedLifetime(buffer) { try body(&reader) }
    }

    /// Returns the bytes of the record. Long content is compressed.
    ///
    /// - Parameter name: The name under which they will stand.
    public func bytes(named name: SharedName) -> [UInt8] {
        var content = ByteWriter(capacity: values.count + 64)
        if !isTombstone {
            content.append(integer: shape.count == 0 && shape.types.isEmpty ? 0 : shape.fingerprint)
            content.append(varint: UInt64(children.count))
            for child in children { content.append(string: child) }
            content.append(values)
        }
        let frame = content.count < Self.shortestFrame ? nil : SharedCompressor.frame(of: content)
        var flags = name.kind.sharedCode
        if isTombstone { flags |= Flag.tombstone }
        if isOnCycle { flags |= Flag.onCycle }
        if maxAge != nil { flags |= Flag.maxAge }
        if frame != nil { flags |= Flag.compressed }
        var writer = ByteWriter(capacity: content.count + 40)
        writer.append(Self.format)
        writer.append(flags)
        writer.append(integer: version.time)
        writer.append(integer: version.host)
        if let maxAge { writer.append(varint: maxAge) }
        if let frame { writer.append(frame) } else { writer.append(content) }
        writer.append(integer: writer.check(seed: name.stableHash))
        return writer.bytes
    }
}

extension NameSpace {
    /// The kind in the flags of a shared record.
    var sharedCode: UInt8 {
        switch self {
        case .node: 0
        case .key: 1
        case .collection, .segment: 2
        }
    }
}

/// Compresses the content of shared records. Confined to a thread.
final class SharedCompressor: @unchecked Sendable {
    // One thread at a time has a compressor: it is in the pool, or lent.
    private let compressor: Compressor?
    private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    private static let pool = Mutex<[SharedCompressor]>([])
    private static let poolLimit = 8

    private init() { compressor = Compressor(level: 3) }

    /// Returns a whole zstd frame; nil if it would not save an eighth.
    ///
    /// A new compressor takes 100 microseconds and more than 1 MB.
    static func frame(of content: borrowing ByteWriter) -> [UInt8]? {
        let compressor = pool.withLock { $0.popLast() } ?? SharedCompressor()
        defer { pool.withLock { if $0.count < poolLimit { $0.append(compressor) } } }
        return content.withBytes { bytes in
            compressor.compressor?.compress(bytes, with: nil, limit: bytes.byteCount * 7 / 8 - 4)
                .map { magic + $0 }
        }
    }
}

/// The shapes of shared records, by fingerprint. All threads may use it.
///
/// A host keeps every shape that it has met. Shapes never change under their fingerprint, so they
/// are never stale.
public final class SharedShapes: Sendable {
    private struct State {
        var shapes: [Shape] = []
        var numbers: [UInt64: Int] = [:]

        /// Every record asks for its shape. Most fleets have few, which are found without hashing.
        func number(of fingerprint: UInt64) -> Int? {
            guard shapes.count > 8 else {
                return shapes.firstIndex { $0.fingerprint == fingerprint }.map { $0 + 1 }
            }
            return numbers[fingerprint]
        }
    }
    private let state = Mutex(State())

    /// Makes an empty table.
    public init() {}

    /// Adds the shape that `description` describes.
    ///
    /// - Parameters:
    ///   - description: The bytes of the shape, as a server has them.
    ///   - fingerprint: The fingerprint under which the server has them.
    /// - Returns: Whether the bytes are those of a shape with that fingerprint.
    @discardableResult
    public func add(_ description: [UInt8], fingerprint: UInt64) -> Bool {
        let shape = try? ByteReader.reading(description) { reader in
            let shape = try Shape.read(from: &reader)
            return reader.isAtEnd ? shape : nil
        }
        guard let shape, shape.fingerprint == fingerprint else { return false }
        add(shape)
        return true
    }

    func add(_ shape: Shape) {
        state.withLock { state in
            guard state.numbers[shape.fingerprint] == nil else { return }
            state.shapes.append(shape)
            // Number 0 stands for no shape in a record.
            state.numbers[shape.fingerprint] = state.shapes.count
        }
    }

    func shape(_ fingerprint: UInt64) -> Shape? {
        state.withLock { state in state.number(of: fingerprint).map { state.shapes[$0 - 1] } }
    }

    /// Returns the number of a shape in this process, and the shape that stands for all its equals.
    func number(of shape: Shape) -> UInt64 {
        let fingerprint = shape.fingerprint
        if let known = state.withLock({ $0.number(of: fingerprint) }) { return UInt64(known) }
        add(shape)
        return state.withLock { UInt64($0.number(of: fingerprint) ?? 0) }
    }
}

/// A hybrid logical clock (Kulkarni et al., 2014): close to the wall clock, and later than every
/// version that it has seen, unless the clock of another host is wrong.
///
/// A version that is more than a minute ahead comes from a wrong clock. What replaces such a record
/// gets a version that is later still, and other records do not: otherwise one wrong clock would
/// give the versions of all hosts a date in the future.
///
/// ```swift
/// let clock = HybridClock(host: 7)
/// let version = clock.next(after: stored.version)  // later than `stored.version` in any case
/// ```
///
/// All threads may use it.
public final class HybridClock: Sendable {
    private let host: UInt64
    private let milliseconds: @Sendable () -> UInt64
    private struct State {
        /// The time of the last version that is close to the wall clock.
        var last: UInt64 = 0
        /// The time of the last version that replaces one of a wrong clock.
        var lastAhead: UInt64 = 0
    }
    private let state = Mutex(State())

    /// How far the clock follows the versions of other hosts: one minute.
    private static let largestSkew: UInt64 = 60_000 << 16

    /// Makes a clock.
    ///
    /// - Parameters:
    ///   - host: The number of the host, which no other host has.
    ///   - milliseconds: Returns the time of the wall clock in milliseconds since 1970.
    public init(host: UInt64, milliseconds: @escaping @Sendable () -> UInt64) {
        self.host = host
        self.milliseconds = milliseconds
    }

    /// Returns a version that is later than `seen`, if that is not at the end of time, in the year
    /// 6429. It is later than all versions before that were not more than a minute ahead.
    ///
    /// - Parameter seen: The latest version of the records that are to be replaced; nil for none.
    public func next(after seen: RecordVersion? = nil) -> RecordVersion {
        let now = milliseconds() << 16
        let seen = seen?.time ?? 0
        // At the end of time, versions are no longer later than those before: a damaged version
        // must neither end the process nor be one that no host can read.
        let latest = RecordVersion.endOfTime - 1
        return state.withLock { state in
            let own = max(now, state.last)
            if seen > own, seen - own > Self.largestSkew {
                state.lastAhead = min(max(state.lastAhead, min(seen, latest - 1)) + 1, latest)
                return RecordVersion(time: state.lastAhead, host: host)
            }
            state.last = min(max(now, min(max(state.last, seen), latest - 1) + 1), latest)
            return RecordVersion(time: state.last, host: host)
        }
    }
}
