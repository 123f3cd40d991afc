import EspalierRecords

/// How often something happened, by the name of its reason.
///
/// Bounded, because it is stored: `other` counts names for which there is no room and names that
/// are too long.
///
///     counts = count of names (varint), per name in ascending order: name (text), count (varint)
struct ReasonCounts: Hashable, Sendable {
    static let other = "other"
    static let longestName = 24

    /// The most names, `other` included.
    let limit: Int
    private(set) var counts: [String: UInt64] = [:]

    init(limit: Int) { self.limit = limit }

    var total: UInt64 { counts.values.reduce(0) { $0.addingClamped($1) } }

    mutating func add(_ count: UInt64 = 1, to name: String) {
        let key = hasRoom(for: name) ? name : Self.other
        counts[key] = (counts[key] ?? 0).addingClamped(count)
    }

    private func hasRoom(for name: String) -> Bool {
        if counts[name] != nil { return true }
        let mustKeepOne = counts[Self.other] == nil && name != Self.other
        return name.utf8.count <= Self.longestName && counts.count < limit - (mustKeepOne ? 1 : 0)
    }

    /// Adds other counts, in the order of names, so that every process moves the same ones to
    /// `other`.
    mutating func merge(_ other: ReasonCounts) {
        for (name, count) in other.counts.sorted(by: { $0.key < $1.key }) { add(count, to: name) }
    }

    func append(to writer: inout ByteWriter) {
        writer.append(varint: UInt64(counts.count))
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
            writer.append(string: name)
            writer.append(varint: count)
        }
    }

    init(limit: Int, reading reader: inout ByteReader) throws(FormatError) {
        self.init(limit: limit)
        for _ in 0..<(try reader.count(ofAtLeast: 2)) {
            let name = try reader.string(count: try reader.count())
            add(try reader.varint(), to: name)
        }
    }
}

/// How often reads missed, by the type that was asked for and the name of the reason.
///
/// Bounded, because all counters are stored in a value of one page: `other` counts types for which
/// there is no room and names that are too long. A type keeps its counts in memory as long as the
/// process runs, and in the stored form as long as there is room: the types with most misses stay.
///
///     misses by type = count of reasons (varint), reasons (texts), count of types (varint), types,
///                      most misses first
///     type           = name (text), count of reasons (varint),
///                      per reason: its index (varint), count (varint)
struct MissCounts: Hashable, Sendable {
    static let other = ReasonCounts.other
    /// The most types, `other` included.
    static let typeLimit = 256
    static let longestType = 96
    /// The bytes of `other` with every reason, each with the highest count.
    private static let otherSize = 8 + reasonLimit * 11
    private static let reasonLimit = 16

    private(set) var counts: [String: ReasonCounts] = [:]

    var isEmpty: Bool { counts.isEmpty }

    mutating func add(_ count: UInt64 = 1, to reason: String, of type: String) {
        let key = hasRoom(for: type) ? type : Self.other
        counts[key, default: ReasonCounts(limit: Self.reasonLimit)].add(count, to: reason)
    }

    private func hasRoom(for type: String) -> Bool {
        if counts[type] != nil { return true }
        let mustKeepOne = counts[Self.other] == nil && type != Self.other
        return type.utf8.count <= Self.longestType
            && counts.count < Self.typeLimit - (mustKeepOne ? 1 : 0)
    }

    /// Adds other counts, in the order of names, so that every process moves the same types to
    /// `other`.
    mutating func merge(_ other: MissCounts) {
        for (type, reasons) in other.counts.sorted(by: { $0.key < $1.key }) {
            add(reasons, of: type)
        }
    }

    private mutating func add(_ reasons: ReasonCounts, of type: String) {
        for (reason, count) in reasons.counts.sorted(by: { $0.key < $1.key }) {
            add(count, to: reason, of: type)
        }
    }

    // MARK: - Stored form

    /// Returns the stored form in at most `room` bytes: as many types as fit, and the sum of the
    /// rest.
    func form(atMost room: Int) -> [UInt8] {
        let names = Set(counts.values.flatMap(\.counts.keys)).sorted()
        var head = ByteWriter()
        head.append(varint: UInt64(names.count))
        for name in names { head.append(string: name) }
        let indexes = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, UInt64($0)) })
        var types = ByteWriter()
        var count: UInt64 = 0
        var rest = counts[Self.other] ?? ReasonCounts(limit: Self.reasonLimit)
        let limit = room - head.count - 2 - Self.otherSize
        for (type, reasons) in ranked where type != Self.other {
            let form = Self.form(of: type, reasons, indexes)
            guard types.count + form.count <= limit else {
                rest.merge(reasons)
                continue
            }
            types.append(form)
            count += 1
        }
        guard limit >= 0 else { return [] }
        if !rest.counts.isEmpty {
            types.append(Self.form(of: Self.other, rest, indexes))
            count += 1
        }
        head.append(varint: count)
        head.append(types)
        return head.bytes
    }

    private var ranked: [(String, ReasonCounts)] {
        counts.map { (name: $0.key, reasons: $0.value, total: $0.value.total) }
            .sorted { ($1.total, $0.name) < ($0.total, $1.name) }
            .map { ($0.name, $0.reasons) }
    }

    private static func form(of type: String, _ reasons: ReasonCounts, _ indexes: [String: UInt64])
        -> [UInt8]
    {
        var writer = ByteWriter()
        writer.append(string: type)
        let pairs = reasons.counts.compactMap { name, count in indexes[name].map { ($0, count) } }
        writer.append(varint: UInt64(pairs.count))
        for (index, count) in pairs.sorted(by: { $0.0 < $1.0 }) {
            writer.append(varint: index)
            writer.append(varint: count)
        }
        return writer.bytes
    }

    init() {}

    init(reading reader: inout ByteReader) throws(FormatError) {
        guard !reader.isAtEnd else { return }
        var names: [String] = []
        for _ in 0..<(try reader.count()) {
            names.append(try reader.string(count: try reader.count()))
        }
        for _ in 0..<(try reader.count(ofAtLeast: 2)) {
            let type = try reader.string(count: try reader.count())
            for _ in 0..<(try reader.count(ofAtLeast: 2)) {
                let index = try reader.varint()
                guard index < UInt64(names.count) else {
                    throw .malformed("a reason that is not in the table")
                }
                add(try reader.varint(), to: names[Int(index)], of: type)
            }
        }
    }
}
