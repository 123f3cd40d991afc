import EspalierConfinement
import EspalierRecords
import Synchronization

/// The touches of reads that no commit has stored yet: records, in the order of their last touch. A
/// touch is an access that counts for eviction.
///
/// A touch costs one entry in memory, even after a read of a large tree. Each commit takes the
/// waiting touches and stamps their records before its operations. If no commit comes, the writer
/// makes one, ``flushDelay`` after the first touch or at ``flushCount`` records.
///
/// Safe from every thread. The touches stand in several parts, each with a lock of its own, so that
/// reads of different records do not wait for each other.
final class AccessLog: Sendable {
    /// The number of touched records at which a flush is due.
    static let flushCount = 4_096
    /// The longest that a touch waits for a commit.
    static let flushDelay = Duration.seconds(5)
    /// The most touched records that wait. Beyond it, touches of further records are not logged.
    private static let limit = 1 << 18

    /// Touched records.
    struct Touches: Sendable {
        fileprivate var order: [Handle: UInt64] = [:]

        /// The records in the order of their last touches.
        var handles: [Handle] { order.sorted { $0.value < $1.value }.map(\.key) }

        var isEmpty: Bool { order.isEmpty }
    }

    /// What the writer has to do after a touch was logged.
    enum Demand: Equatable {
        case nothing, flushNow
        case flushLater(by: ContinuousClock.Instant)
    }

    // protected by itself
    private final class Part: Sendable {
        struct State {
            /// The lineage of the handles, see `Generation.lineageName`.
            var lineage = ""
            var touches = Touches()
        }
        let state = Mutex(State())
        private let padding = CacheLinePadding()
    }
    private let parts = (0..<32).map { _ in Part() }

    // atomic
    /// The touched records in all parts.
    private let count = Atomic<Int>(0)

    // protected by `due`, which is never taken inside a part
    private struct Due {
        /// When the first of the waiting touches came.
        var since: ContinuousClock.Instant?
        /// Whether so many touches wait that a flush is due now.
        var isNow = false
    }
    private let due = Mutex(Due())

    private func part(of handle: Handle) -> Part {
        parts[Int((handle.rawValue &* 0x9E37_79B9_7F4A_7C15) >> 59)]
    }

    // MARK: - Touching

    /// Logs a touch. Drops the waiting touches of any other lineage.
    ///
    /// - Parameter number: The larger the number, the later the touch: its time in nanoseconds. A
    ///   counter would be one more cache line that all threads change. Nil stands for now.
    func touch(_ handle: Handle, in lineage: String, as number: UInt64? = nil) -> Demand {
        let number = number ?? Moment.now.nanoseconds
        while true {
            let isNew = part(of: handle).state.withLock { state -> Bool? in
                guard state.lineage == lineage else { return nil }
                return add(handle, number, to: &state.touches)
            }
            if let isNew { return isNew ? demand() : .nothing }
            dropTouches(ofOtherThan: lineage)
        }
    }

    /// Logs a touch, unless the record has none and the log is full. Returns whether the touch was
    /// logged as the first waiting one of the record.
    private func add(_ handle: Handle, _ number: UInt64, to touches: inout Touches) -> Bool {
        if let earlier = touches.order[handle] {
            touches.order[handle] = max(number, earlier)
            return false
        }
        guard count.load(ordering: .relaxed) < Self.limit else { return false }
        touches.order[handle] = number
        count.add(1, ordering: .relaxed)
        return true
    }

    /// Drops the touches of every other lineage.
    private func dropTouches(ofOtherThan lineage: String) {
        var isAny = false
        for part in parts {
            part.state.withLock { state in
                guard state.lineage != lineage else { return }
                isAny = isAny || !state.touches.isEmpty
                count.subtract(state.touches.order.count, ordering: .relaxed)
                state = Part.State(lineage: lineage)
            }
        }
        if isAny { restartDelay() }
    }

    /// Returns what the writer has to do after the first waiting touch of a record.
    private func demand() -> Demand {
        due.withLock { due in
            let isFirst = due.since == nil
            let since = due.since ?? .now
            due.since = since
            if !due.isNow, count.load(ordering: .relaxed) >= Self.flushCount {
                due.isNow = true
                return .flushNow
            }
            return isFirst ? .flushLater(by: since + Self.flushDelay) : .nothing
        }
    }

    // MARK: - Taking

    /// Removes and returns the oldest touches, at most `maximum`.
    func take(atMost maximum: Int = .max, in lineage: String) -> Touches {
        var taken = Touches()
        guard count.load(ordering: .relaxed) > 0 else {
            restartDelay()
            return taken
        }
        // Touches of a lineage that is gone are dropped, too.
        dropTouches(ofOtherThan: lineage)
        guard maximum > 0 else { return taken }
        if count.load(ordering: .relaxed) <= maximum {
            for part in parts {
                part.state.withLock { state in
                    guard state.lineage == lineage else { return }
                    taken.order.merge(state.touches.order) { $1 }
                    count.subtract(state.touches.order.count, ordering: .relaxed)
                    state.touches = Touches()
                }
            }
            restartDelay()
            return taken
        }
        for part in parts {
            taken.order.merge(part.state.withLock { $0.touches.order }) { $1 }
        }
        for handle in taken.handles.dropFirst(maximum) { taken.order[handle] = nil }
        for (handle, number) in taken.order { remove(handle, touchedAt: number) }
        let isNow = count.load(ordering: .relaxed) >= Self.flushCount
        due.withLock { $0.isNow = $0.isNow && isNow }
        return taken
    }

    /// Removes a touch, unless a later one of the record has taken its place.
    private func remove(_ handle: Handle, touchedAt number: UInt64) {
        part(of: handle).state.withLock { state in
            guard state.touches.order[handle] == number else { return }
            state.touches.order[handle] = nil
            count.subtract(1, ordering: .relaxed)
        }
    }

    /// Begins the delay anew for what still waits.
    private func restartDelay() {
        due.withLock { $0 = Due(since: count.load(ordering: .relaxed) == 0 ? nil : .now) }
    }

    /// Returns the time of the record's last touch, if it waits.
    func touchTime(of handle: Handle, in lineage: String) -> UInt64? {
        part(of: handle).state.withLock {
            $0.lineage == lineage ? $0.touches.order[handle] : nil
        }
    }

    /// Puts back the touches that a failed commit took. Later touches of the same records remain.
    func putBack(_ touches: Touches, in lineage: String) {
        var isAny = false
        for (handle, number) in touches.order {
            part(of: handle).state.withLock { state in
                guard state.lineage == lineage else { return }
                isAny = true
                guard state.touches.order[handle] == nil else { return }
                state.touches.order[handle] = number
                count.add(1, ordering: .relaxed)
            }
        }
        if isAny { due.withLock { $0.since = $0.since ?? .now } }
    }

    /// Begins the delay anew, because a commit has failed.
    func postpone() {
        due.withLock { due in
            if due.since != nil { due = Due(since: .now) }
        }
    }

    /// The time at which a flush is due; nil if no touch waits.
    var deadline: ContinuousClock.Instant? {
        due.withLock { due in
            guard let since = due.since else { return nil }
            return due.isNow ? since : since + Self.flushDelay
        }
    }
}
