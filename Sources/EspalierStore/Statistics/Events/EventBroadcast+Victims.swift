import EspalierRecords

extension EventBroadcast {
    /// Tells of what a commit evicted, in its order. `timeline` tells how old it was.
    func send(_ victims: [Victim], _ timeline: Timeline) {
        guard hasSubscribers, !victims.isEmpty else { return }
        let now = Timeline.currentSecond
        for victim in victims {
            guard let entry = victim.entries.first else { continue }
            send(
                .evicted(
                    Eviction(
                        identifier: entry.identifier, nameSpace: entry.nameSpace,
                        reason: victim.reason,
                        records: victim.entries.count, bytes: ByteCount(victim.bytes),
                        age: timeline.age(of: victim.stamp, at: now).map { .seconds($0) })))
        }
    }
}
