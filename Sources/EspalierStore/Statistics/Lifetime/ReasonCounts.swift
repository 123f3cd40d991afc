import EspalierRecords

/// How often something happened, by the name of its reason. Bounded, because it is stored: what has
/// no place of its own any more, or a name too long, is counted under `other`.
///
///     counts = count of names (varint), per name in ascending order: name (text), count (varint)
struct ReasonCounts: Hashable, Sendable {
    static let other = "other"
    static let longestName = 24

    /// Names, `other` included.
    let limit: Int
    private(set) var counts: [String: UInt64] = [:]

    init(limit: Int) { self.limit = limit }

    var total: UInt64 { counts.values.reduce(0) { $0.addingClamped($1) } }

    mutating func add(_ count: UInt64 = 1, to name: String) {
        let place = hasPlace(for: name) ? name : Self.other
        counts[place] = (counts[place] ?? 0).addingClamped(count)
    }

    private func hasPlace(for name: String) -> Bool {
        if counts[name] != nil { return true }
        let isKept = counts[Self.other] == nil && name != Self.other
        return name.utf8.count <= Self.longestName && counts.count < limit - (isKept ? 1 : 0)
    }

    /// In the order of names, so that who has to move to `other` does not depend on the process.
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
