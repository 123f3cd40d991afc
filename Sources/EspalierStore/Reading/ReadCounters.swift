import EspalierRecords
import Synchronization

/// Hits and misses of this process, by reason.
final class ReadCounters: Sendable {
    private let hits = Atomic<UInt64>(0)
    private let misses = Mutex<[String: UInt64]>([:])

    func count(_ reason: MissReason?) {
        guard let reason else {
            hits.add(1, ordering: .relaxed)
            return
        }
        misses.withLock { $0[reason.name, default: 0] += 1 }
    }

    var snapshot: (hits: UInt64, misses: [String: UInt64]) {
        (hits.load(ordering: .relaxed), misses.withLock { $0 })
    }
}
