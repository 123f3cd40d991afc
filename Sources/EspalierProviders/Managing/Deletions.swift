import EspalierConsistency

/// The deletions that went to the cache, and what was saved since: what is newer than a deletion is
/// not its victim.
actor Deletions {
    /// Those whose victims are not known yet.
    private var open: [ChangeTime] = []
    private var saved: [String: ChangeTime] = [:]
    private var latest: [ChangeTime] = []
    /// How many are kept, of those that are done with, for collections that were being fetched
    /// meanwhile.
    private static let limit = 64

    func begin(_ time: ChangeTime) {
        open.append(time)
        latest.append(time)
    }

    /// The victims of one are known. Collections are saved behind that and before the next: all
    /// before it are done with.
    func end(_ time: ChangeTime) {
        open.removeAll { $0 == time }
        if open.isEmpty { saved = [:] }
        let done = latest.prefix { time.after($0) }.count
        latest.removeFirst(max(0, min(done, latest.count - Self.limit)))
    }

    func noteSaved(_ key: String, _ time: ChangeTime) {
        if !open.isEmpty { saved[key] = time }
    }

    func isSaved(_ key: String, after time: ChangeTime) -> Bool { saved[key]?.after(time) ?? false }

    /// Whether the deletion at `time` went to the cache, and not to memory alone; or, after a
    /// fetch, one since.
    func went(_ time: ChangeTime, since fetch: ChangeTime?) -> Bool {
        latest.contains { deletion in
            deletion == time || fetch.map { deletion.after($0) && time.after(deletion) } ?? false
        }
    }
}
