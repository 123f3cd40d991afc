import EspalierRecords

/// The records that rank highest among any number of them. Keeps no more than twice as many as it
/// gives.
struct Ranking: Sendable {
    let limit: Int
    private var candidates: [Candidate] = []
    /// What a candidate has to be ahead of to be among the first.
    private var last: Candidate?

    /// - Precondition: `limit` is above 0.
    init(limit: Int) {
        precondition(limit > 0, "a ranking needs room for one")
        self.limit = limit
    }

    private struct Candidate {
        let handle: Handle
        let score: Int

        /// Of equals the older record is ahead, so that the same records always rank the same.
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
