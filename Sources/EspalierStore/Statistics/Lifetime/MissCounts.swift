import EspalierRecords

/// How often reads missed, by the type that was asked for and the name of the reason.
///
/// Bounded, because it is stored in a value of a page with all else that is counted: what has no
/// place of its own any more, or a name too long, is counted under `other`. A type has its place in
/// memory as long as the process runs, and in what is stored as long as there is room for it: those
/// that missed most stay.
///
///     misses by type = count of reasons (varint), reasons (texts), count of types (varint), types, most misses first
///     type           = name (text), count of reasons (varint), per reason: its index (varint), count (varint)
struct MissCounts: Hashable, Sendable {
    static let other = ReasonCounts.other
    /// Types, `other` included.
    static let typeLimit = 256
    static let longestType = 96
    /// Room for `other` with every reason, each with as many misses as can be counted.
    private static let otherSize = 8 + reasonLimit * 11
    private static let reasonLimit = 16

    private(set) var counts: [String: ReasonCounts] = [:]

    var isEmpty: Bool { counts.isEmpty }

    mutating func add(_ count: UInt64 = 1, to reason: String, of type: String) {
        let place = hasPlace(for: type) ? type : Self.other
        counts[place, default: ReasonCounts(limit: Self.reasonLimit)].add(count, to: reason)
    }

    private func hasPlace(for type: String) -> Bool {
        if counts[type] != nil { return true }
        let isKept = counts[Self.other] == nil && type != Self.other
        return type.utf8.count <= Self.longestType
            && counts.count < Self.typeLimit - (isKept ? 1 : 0)
    }

    /// In the order of names, so that which type has to move to `other` does not depend on the
    /// process.
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

    // MARK: Form

    /// At most `room` bytes; of the types as many as fit, the rest added up.
    func form(atMost room: Int) -> [UInt8] {
        let names = Set(counts.values.flatMap(\.counts.keys)).sorted()
        var head = ByteWriter()
        head.append(varint: UInt64(names.count))
        for name in names { head.append(string: name) }
        let places = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, UInt64($0)) })
        var types = ByteWriter()
        var count: UInt64 = 0
        var rest = counts[Self.other] ?? ReasonCounts(limit: Self.reasonLimit)
        let limit = room - head.count - 2 - Self.otherSize
        for (type, reasons) in ranked where type != Self.other {
            let form = Self.form(of: type, reasons, places)
            guard types.count + form.count <= limit else {
                rest.merge(reasons)
                continue
            }
            types.append(form)
            count += 1
        }
        guard limit >= 0 else { return [] }
        if !rest.counts.isEmpty {
            types.append(Self.form(of: Self.other, rest, places))
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

    private static func form(of type: String, _ reasons: ReasonCounts, _ places: [String: UInt64])
        -> [UInt8]
    {
        var writer = ByteWriter()
        writer.append(string: type)
        let pairs = reasons.counts.compactMap { name, count in places[name].map { ($0, count) } }
        writer.append(varint: UInt64(pairs.count))
        for (place, count) in pairs.sorted(by: { $0.0 < $1.0 }) {
            writer.append(varint: place)
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
                let place = try reader.varint()
                guard place < UInt64(names.count) else {
                    throw .malformed("a reason that is not in the table")
                }
                add(try reader.varint(), to: names[Int(place)], of: type)
            }
        }
    }
}
