#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore

/// The records that `ls` lists.
struct EntryQuery: Sendable {
    /// In the order of the list.
    var nameSpaces: [NameSpace] = [.node, .key, .collection]
    var glob: Glob?
    var type: String?
    var limit: Int?

    /// Returns the matching records in the order of the index. Visits only the entries that begin
    /// with the literal prefix of the pattern, and stops at the limit.
    func summaries(in inspection: Inspection) throws -> [RecordSummary] {
        let reader = try RecordSummaries(inspection)
        var found: [RecordSummary] = []
        var isDone: Bool { limit.map { found.count >= $0 } ?? false }
        for nameSpace in nameSpaces where !isDone {
            try inspection.forEachEntry(of: nameSpace, startingWith: glob?.literalPrefix ?? "") {
                entry in
                guard matches(entry) else { return true }
                let stored = try inspection.record(of: entry)
                guard matches(stored) else { return true }
                found.append(try reader.summary(of: entry, stored))
                return !isDone && glob?.isLiteral != true
            }
        }
        return found
    }

    private func matches(_ entry: IndexEntry) -> Bool {
        // A truncated identifier cannot be matched. The walk made sure of its prefix.
        guard let glob, entry.isWhole else { return true }
        return glob.matches(entry.identifier)
    }

    private func matches(_ stored: StoredRecord) -> Bool {
        guard let type else { return true }
        guard case .record(let record) = stored else { return false }
        return record.shape.types.contains { $0.hasSameBytes(as: type) }
    }
}

/// The kinds of records to list.
enum EntryKind: String, Sendable, CaseIterable {
    case node, key, collection, all

    var nameSpaces: [NameSpace] {
        switch self {
        case .node: [.node]
        case .key: [.key]
        case .collection: [.collection]
        case .all: [.node, .key, .collection]
        }
    }
}

/// The order in which `top` ranks records.
enum RankingOrder: String, Sendable, CaseIterable {
    /// The largest records first, collections with their segments.
    case size
    /// The records with the most references first, without those that have none.
    case refs
    /// The roots in the order of eviction.
    case age

    func summaries(in inspection: Inspection, limit: Int) throws -> [RecordSummary] {
        let reader = try RecordSummaries(inspection)
        return try handles(reader, limit: limit).map(reader.summary)
    }

    private func handles(_ reader: RecordSummaries, limit: Int) throws -> [Handle] {
        let inspection = reader.inspection
        guard self != .age else {
            let expired = try inspection.expiredRoots()
            var handles = Array(expired.prefix(limit))
            let isListed = Set(expired)
            try inspection.forEachRoot { handle, _ in
                guard handles.count < limit else { return false }
                if !isListed.contains(handle) { handles.append(handle) }
                return true
            }
            return handles
        }
        var ranking = Ranking(limit: limit)
        try inspection.forEachRecord { handle, stored in
            if case .record(let record) = stored, record.nameSpace == .segment { return true }
            if self == .size {
                ranking.add(handle, score: try reader.bytes(of: handle, stored))
            } else {
                let count = Int(clamping: try inspection.state(of: handle)?.referenceCount ?? 0)
                if count > 0 { ranking.add(handle, score: count) }
            }
            return true
        }
        return ranking.handles
    }
}

/// Finds the records with the highest scores. Memory is proportional to `limit`.
struct Ranking: Sendable {
    let limit: Int
    private var candidates: [Candidate] = []
    /// The last of the first `limit` candidates so far; worse candidates are dropped.
    private var last: Candidate?

    /// - Precondition: `limit` is above 0.
    init(limit: Int) {
        precondition(limit > 0, "a ranking needs room for one")
        self.limit = limit
    }

    private struct Candidate {
        let handle: Handle
        let score: Int

        /// Of equal scores the lower handle is ahead, so that the ranking is deterministic.
        func isAhead(of other: Candidate) -> Bool {
            score == other.score ? handle < other.handle : score > other.score
        }
    }

    mutating func add(_ handle: Handle, score: Int) {
        let candidate = Candidate(handle: handle, score: score)
        if let last, !candidate.isAhead(of: last) { return }
        candidates.append(candidate)
        if candidates.count / 2 >= limit { cut() }
    }

    private mutating func cut() {
        candidates.sort { $0.isAhead(of: $1) }
        guard candidates.count >= limit else { return }
        candidates.removeSubrange(limit...)
        last = candidates.last
    }

    /// The first `limit`, highest score first.
    var handles: [Handle] {
        var ranking = self
        ranking.cut()
        return ranking.candidates.map(\.handle)
    }
}
#endif
