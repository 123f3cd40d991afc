import EspalierLMDB
import EspalierRecords
import Foundation
import Synchronization

/// Takes writes from the queue, commits them in groups and ends their tickets.
///
/// The thread `espalier-writer` does that. A thread that waits for its own write commits it itself
/// if no other write comes before: waking the writer and being woken takes longer than most
/// commits. LevelDB does the same. The committing thread holds `turn`.
final class WriterThread: Sendable {
    /// The most writes of one transaction. The limit bounds how long a ticket waits for other
    /// writes.
    static let groupLimit = 64

    // immutable
    private let queue: WriteQueue
    private let committer: Committer
    private let ended = DispatchSemaphore(value: 0)
    /// Held by the thread that commits. An `NSLock`, because `Mutex.withLockIfAvailable` must not
    /// be called by the thread that holds it, and ThreadSanitizer does not know `Mutex`.
    private let turn = NSLock()
    /// When the commit under way began.
    private let commitStart = Mutex<ContinuousClock.Instant?>(nil)

    init(_ queue: WriteQueue, _ committer: Committer) {
        self.queue = queue
        self.committer = committer
        let thread = Thread { [self] in
            run()
            ended.signal()
        }
        thread.name = "espalier-writer"
        thread.stackSize = WorkerThreads.stackSize
        thread.start()
    }

    /// How long the commit under way has lasted; nil while there is none. Safe from every thread.
    var busyFor: Duration? { commitStart.withLock { $0 }.map { .now - $0 } }

    /// Blocks until the thread has committed the queued writes and has ended. The queue must be
    /// closed before.
    func join() {
        ended.wait()
        ended.signal()
    }

    private func run() {
        // Between writes the writer does background work, one small transaction at a time, so that
        // a write waits for one at most.
        var hasWork = false
        while let taken = queue.take(
            atMost: committer.groupCount, until: hasWork ? .now : committer.deadline)
        {
            hasWork = turn.withLock {
                // A model that is released here must not wait for the writer.
                AppCodeScope.run {
                    let limit = max(0, committer.groupCount - taken.count)
                    let taken = taken + queue.takeMore(atMost: limit)
                    if !taken.isEmpty {
                        let (group, rest) = nextGroup(of: taken)
                        queue.putBack(rest)
                        queue.admit()
                        commit(group)
                    }
                    return committer.maintain(isIdle: taken.isEmpty)
                }
            }
        }
        turn.withLock {
            committer.finishTraining()
            committer.flushLogs()
        }
    }

    /// Commits a write on the calling thread, which waits for it. Does nothing if an earlier write
    /// is unfinished, if another thread commits, or if the stack is too small for a model's
    /// encoder.
    func commitAwaited(_ write: PendingWrite) {
        guard StackSpace.isLeft(WriteQueue.requiredStack), turn.try() else { return }
        defer { turn.unlock() }
        guard queue.take(next: write) else { return }
        AppCodeScope.run {
            commit(nextGroup(of: [write]).group)
            committer.trainFirstDictionary()
        }
        // The writer does the rest. It may be asleep with an older deadline.
        if committer.hasWork || !write.ticket.isCommitted {
            queue.wakeWriter()
        } else if let deadline = committer.deadline {
            queue.wakeWriter(by: deadline)
        }
    }

    private typealias FlattenedWrite = (
        write: PendingWrite, operation: Result<WriteOperation, CacheError>
    )

    /// Returns the writes that fit in the next transaction, and the remaining ones.
    private func nextGroup(
        of taken: [PendingWrite]
    ) -> (group: [FlattenedWrite], rest: ArraySlice<PendingWrite>) {
        var group: [FlattenedWrite] = []
        var byteCount = 0
        for (index, write) in taken.enumerated() {
            let operation = write.operation()
            let standsAlone = (try? operation.get().standsAlone) ?? false
            byteCount += write.byteCount
            if !group.isEmpty, standsAlone || byteCount > committer.groupBytes {
                return (group, taken[index...])
            }
            group.append((write, operation))
            if standsAlone { return (group, taken[(index + 1)...]) }
        }
        return (group, [])
    }

    private func commit(_ group: [FlattenedWrite]) {
        var operations: [WriteOperation] = []
        var writes: [PendingWrite] = []
        for item in group {
            switch item.operation {
            case .success(let operation):
                operations.append(operation)
                writes.append(item.write)
            case .failure(let error):
                queue.finish(item.write, .failure(error))
            }
        }
        commitStart.withLock { $0 = .now }
        defer { commitStart.withLock { $0 = nil } }
        var timeout: CacheError?
        committer.commit(operations) { index, result in
            if case .failure(let error) = result, error.isLockTimeout { timeout = error }
            queue.finish(writes[index], result)
        }
        // The writes that wait fail, too. Otherwise the last of a long queue would fail minutes
        // later, and closing the cache would wait for it.
        guard let timeout else { return }
        for write in queue.takeMore(atMost: .max) { queue.finish(write, .failure(timeout)) }
    }
}
