import EspalierLMDB
import EspalierRecords
import Foundation

/// Takes what is queued, commits it in groups, tells the tickets: on a thread of its own, or on one
/// that waits for its write.
final class Writer: Sendable {
    /// Writes of one transaction, at most: what bounds how long a ticket waits for its neighbours.
    private static let groupLimit = 64
    /// What the stack of a thread that waits has to have left for it to write, nearly that of the
    /// writer's own: where models stop being too deep is not to depend on who waits.
    private static let leastStack = WorkerThreads.stackSize / 4 * 3

    // immutable
    private let queue: WriteQueue
    private let committer: Committer
    /// Told of every write that fails.
    private let onFailure: @Sendable (CacheError) -> Void
    private let ended = DispatchSemaphore(value: 0)

    // held by whoever commits; no `Mutex`, for to try that inside of itself is an error, and the
    // thread sanitizer does not know it
    private let turn = NSLock()

    init(
        queue: WriteQueue, committer: Committer, onFailure: @escaping @Sendable (CacheError) -> Void
    ) {
        self.queue = queue
        self.committer = committer
        self.onFailure = onFailure
        let thread = Thread { [self] in
            loop()
            ended.signal()
        }
        thread.name = "espalier-writer"
        thread.stackSize = WorkerThreads.stackSize
        thread.start()
    }

    /// Blocks until the thread has committed what was queued and ended. The queue has to be closed.
    func join() {
        ended.wait()
        ended.signal()
    }

    private func loop() {
        // Between writes what is left over is done: one small transaction at a time, so that a
        // write does not wait for more.
        var isBehind = false
        while let taken = queue.take(
            atMost: Self.groupLimit, until: isBehind ? .now : committer.deadline)
        {
            isBehind = turn.withLock {
                // Nothing that a model does when it is let go of may wait for the writer here.
                ReadScope.run {
                    let taken = taken + queue.takeMore(atMost: Self.groupLimit - taken.count)
                    if !taken.isEmpty {
                        let (group, rest) = assemble(taken)
                        queue.putBack(rest.map(\.write), bytes: rest.map(\.bytes))
                        commit(group)
                    }
                    return committer.maintain(isIdle: taken.isEmpty)
                }
            }
        }
        turn.withLock { committer.flushTouches() }
    }

    /// Commits a write on the calling thread, which waits for it, unless another one is to be
    /// committed before, or somebody commits: to wake the writer, and be woken by it, takes longer
    /// than most commits. So does LevelDB.
    func commit(awaited write: PendingWrite) {
        guard StackSpace.isLeft(Self.leastStack) else { return }
        guard turn.try() else { return }
        defer { turn.unlock() }
        guard queue.take(next: write) else { return }
        let deadline = committer.deadline
        ReadScope.run { commit(assemble([write]).group) }
        // What is left over is the writer's, which may have slept since it looked last.
        let isLater = committer.deadline.map { $0 != deadline } ?? false
        if isLater || committer.hasMore || !write.ticket.isCommitted { queue.wakeWriter() }
    }

    private struct Flattened {
        let write: PendingWrite
        let operation: Result<WriteOperation, CacheError>
        var bytes: Int { (try? operation.get().byteCount) ?? 0 }
    }

    /// The writes of one transaction: as many as fit, and those that stand alone alone.
    private func assemble(_ taken: [PendingWrite]) -> (
        group: [Flattened], rest: [(write: PendingWrite, bytes: Int)]
    ) {
        var group: [Flattened] = []
        var bytes = 0
        for (index, write) in taken.enumerated() {
            let flattened = Flattened(write: write, operation: write.operation())
            let standsAlone = (try? flattened.operation.get().standsAlone) ?? false
            if !group.isEmpty, standsAlone || bytes + flattened.bytes > committer.groupBytes {
                let rest = taken[index...].map {
                    ($0, $0 === write ? flattened.bytes : PendingWrite.assumedBytes)
                }
                return (group, rest)
            }
            group.append(flattened)
            bytes += flattened.bytes
            if standsAlone {
                return (group, taken[(index + 1)...].map { ($0, PendingWrite.assumedBytes) })
            }
        }
        return (group, [])
    }

    private func commit(_ group: [Flattened]) {
        var operations: [WriteOperation] = []
        var writes: [PendingWrite] = []
        for item in group {
            switch item.operation {
            case .success(let operation):
                operations.append(operation)
                writes.append(item.write)
            case .failure(let error):
                finish([item.write], .failure(error))
            }
        }
        guard !operations.isEmpty else { return }
        do {
            try committer.commit(operations)
            finish(writes, .success(()))
        } catch {
            // One by one, so that each fails for its own reason.
            guard operations.count > 1 else { return finish(writes, .failure(CacheError(error))) }
            for (operation, write) in zip(operations, writes) {
                do {
                    try committer.commit([operation])
                    finish([write], .success(()))
                } catch {
                    finish([write], .failure(CacheError(error)))
                }
            }
        }
    }

    private func finish(_ writes: [PendingWrite], _ result: Result<Void, CacheError>) {
        if case .failure(let error) = result { for _ in writes { onFailure(error) } }
        for write in writes { write.finish(result) }
        queue.finish(writes)
    }
}
