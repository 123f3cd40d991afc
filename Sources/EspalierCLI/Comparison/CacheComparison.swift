#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore

/// Compares two caches by content, kind by kind in the order of identifiers. Identifiers that are
/// too long for a key and begin alike are in the order of their keys. Memory is proportional to the
/// number of records.
///
/// Handles, stamps, counts, and the order of fields and types are not content. References compare
/// by the identifiers of their targets; all deleted targets are alike, and so are all lost ones.
struct CacheComparison {
    /// The number of differences to keep. All are counted.
    let limit: Int?
    private(set) var differences: [RecordDifference] = []
    private(set) var count = 0

    init(limit: Int? = nil) { self.limit = limit }

    mutating func compare(_ a: Inspection, _ b: Inspection) throws {
        var left = Side(a)
        var right = Side(b)
        for nameSpace in [NameSpace.node, .key, .collection] {
            let entries = try left.entries(of: nameSpace)
            let others = try right.entries(of: nameSpace)
            let pairs = DamagedPairs(entries, others)
            func difference(_ change: RecordDifference.Change, _ entry: IndexEntry)
                -> RecordDifference
            {
                RecordDifference(
                    change: pairs.doubtful.contains(entry) ? .damaged : change,
                    kind: .init(nameSpace), identifier: entry.shownIdentifier)
            }
            var (i, j) = (0, 0)
            while i < entries.count || j < others.count {
                if i < entries.count, let other = pairs.partners[entries[i]] {
                    add(try Self.compare(entries[i], &left, other, &right))
                    i += 1
                } else if j < others.count, pairs.paired.contains(others[j]) {
                    j += 1
                } else if j == others.count || i < entries.count && entries[i].precedes(others[j]) {
                    add(difference(.removed, entries[i]))
                    i += 1
                } else if i == entries.count || others[j].precedes(entries[i]) {
                    add(difference(.added, others[j]))
                    j += 1
                } else {
                    add(try Self.compare(entries[i], &left, others[j], &right))
                    i += 1
                    j += 1
                }
            }
        }
    }

    private mutating func add(_ difference: RecordDifference?) {
        guard let difference else { return }
        count += 1
        if differences.count < limit ?? .max { differences.append(difference) }
    }

    private static func compare(
        _ a: IndexEntry, _ left: inout Side, _ b: IndexEntry, _ right: inout Side
    ) throws -> RecordDifference? {
        let (mine, other) = (try left.record(a), try right.record(b))
        if let mine, let other, try isSame(mine, &left, other, &right) { return nil }
        guard let line = try mine.flatMap({ try left.line($0) }),
            let otherLine = try other.flatMap({ try right.line($0) })
        else {
            return RecordDifference(
                change: .damaged, kind: .init(a.nameSpace),
                identifier: (a.isWhole ? a : b).shownIdentifier)
        }
        let fields = line.differences(from: otherLine)
        guard !fields.isEmpty else { return nil }
        return RecordDifference(
            change: .changed, kind: line.kind, identifier: a.identifier, fields: fields)
    }

    /// Returns whether both records have the same bytes and targets. Most do, and need no decoding.
    private static func isSame(
        _ a: Record, _ left: inout Side, _ b: Record, _ right: inout Side
    ) throws -> Bool {
        guard a.nameSpace != .collection, a.shape == b.shape, a.values == b.values,
            a.children.count == b.children.count
        else { return false }
        return try zip(a.children, b.children).allSatisfy {
            try left.reference(to: $0).hasSameTarget(as: right.reference(to: $1))
        }
    }
}

/// The entries of damaged records, of whose names the index has only the beginnings, and the
/// entries of the other cache that they are compared with.
///
/// A record is compared with the one whose name begins in the same way. If there are several, it is
/// not known which of them it is: it counts as damaged, and the others as if it were not there.
private struct DamagedPairs {
    /// The entries of the second cache, by those of the first one.
    private(set) var partners: [IndexEntry: IndexEntry] = [:]
    /// The entries of the second cache that have a partner.
    private(set) var paired: Set<IndexEntry> = []
    /// The entries that may have several partners.
    private(set) var doubtful: Set<IndexEntry> = []

    init(_ entries: [IndexEntry], _ others: [IndexEntry]) {
        for (entry, other) in findPartners(of: entries, in: others) {
            partners[entry] = other
            paired.insert(other)
        }
        let rest = others.filter { !paired.contains($0) }
        let free = entries.filter { partners[$0] == nil }
        for (other, entry) in findPartners(of: rest, in: free) {
            partners[entry] = other
            paired.insert(other)
        }
    }

    /// Returns the partners of those of `entries` of which only the beginnings are known.
    private mutating func findPartners(
        of entries: [IndexEntry], in others: [IndexEntry]
    ) -> [(IndexEntry, IndexEntry)] {
        let damaged = entries.filter { !$0.isWhole }
        guard !damaged.isEmpty else { return [] }
        let candidates = others.filter { !$0.isNameless }.map { (key: $0.key, entry: $0) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        var pairs: [(IndexEntry, IndexEntry)] = []
        for entry in damaged {
            let beginning = entry.key
            var (low, high) = (0, candidates.count)
            while low < high {
                let middle = (low + high) / 2
                if candidates[middle].key.lexicographicallyPrecedes(beginning) {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            let found = candidates[low...].prefix(2).filter { $0.key.starts(with: beginning) }
            if entry.isNameless || found.count > 1 {
                doubtful.insert(entry)
            } else if let partner = found.first {
                pairs.append((entry, partner.entry))
            }
        }
        return pairs
    }
}

/// One of the two caches.
private struct Side {
    private let inspection: Inspection
    private var names: ReferenceNames

    init(_ inspection: Inspection) {
        self.inspection = inspection
        names = ReferenceNames(inspection)
    }

    func entries(of nameSpace: NameSpace) throws -> [IndexEntry] {
        var entries: [IndexEntry] = []
        try inspection.forEachEntry(of: nameSpace) { entry in
            entries.append(entry)
            return true
        }
        // The index is in the order of keys, in which long identifiers are last.
        return entries.sorted { $0.precedes($1) }
    }

    mutating func reference(to handle: Handle) throws -> RecordReference {
        try names.reference(to: handle)
    }

    /// Returns the record, or nil if it cannot be read.
    func record(_ entry: IndexEntry) throws -> Record? {
        guard case .record(let record) = try inspection.record(of: entry) else { return nil }
        return record
    }

    mutating func line(_ record: Record) throws -> RecordLine? {
        do {
            return try RecordLine(record, in: inspection) {
                try names.reference(to: $0).unnumberedJSON
            }
        } catch is FormatError {
            return nil
        }
    }
}

extension IndexEntry {
    /// Compares by key if the identifier is too long for one, because the identifier of a damaged
    /// record is unknown.
    fileprivate func precedes(_ other: IndexEntry) -> Bool {
        switch (longKey, other.longKey) {
        case (nil, nil): identifier.utf8.lexicographicallyPrecedes(other.identifier.utf8)
        case (let key?, let other?): key.lexicographicallyPrecedes(other)
        case (nil, let key?): !key.dropFirst(2).lexicographicallyPrecedes(identifier.utf8)
        case (let key?, nil): key.dropFirst(2).lexicographicallyPrecedes(other.identifier.utf8)
        }
    }
}

extension RecordReference {
    fileprivate func hasSameTarget(as other: RecordReference) -> Bool {
        switch (self, other) {
        case (.deleted, .deleted), (.lost, .lost): true
        default: self == other
        }
    }

    /// The JSON without numbers, which only have a meaning within one export.
    fileprivate var unnumberedJSON: JSONValue {
        switch self {
        case .node: json
        case .deleted: ValueNotation.Mark.deleted.json(true)
        case .lost: ValueNotation.Mark.lost.json(true)
        }
    }
}
#endif
