import EspalierConsistency

/// Deletions whose cascade is not known yet, and what was saved meanwhile: what is newer than a deletion is not its victim.
actor Deletions {
    private var open: [ChangeTime] = []
    private var saved: [String: ChangeTime] = [:]
    private var latest: [ChangeTime] = []

    func begin(_ time: ChangeTime) {
        open.append(time)
        latest.append(time)
        if latest.count > 64 { latest.removeFirst() }
    }

    func end(_ time: ChangeTime) {
        open.removeAll { $0 == time }
        if open.isEmpty { saved = [:] }
    }

    func noteSaved(_ key: String, _ time: ChangeTime) {
        if !open.isEmpty { saved[key] = time }
    }

    func isSaved(_ key: String, after time: ChangeTime) -> Bool { saved[key]?.after(time) ?? false }

    /// Whether a deletion went to the cache, and not to memory alone. Of the latest 64.
    func went(_ time: ChangeTime) -> Bool { latest.contains(time) }
}
