import EspalierLMDB
import EspalierRecords
import Foundation
import Synchronization

/// The one thread that writes: takes what is queued, commits it in groups, tells the tickets.
final class Writer: Sendable {
    /// Writes of one transaction, at most: what bounds how long a ticket waits for its neighbours.
    private static let groupLimit = 64
    private static let groupBytes = 1 << 20

    // immutable
    private let queue: WriteQueue
    private let committer: Committer
    private let onCommit: @Sendable (ChangeSet) -> Void
    private let ended = DispatchSemaphore(value: 0)

    init(queue: WriteQueue, committer: Committer, onCommit: @escaping @Sendable (ChangeSet) -> Void) {
        self.queue = queue
        self.committer = committer
        self.onCommit = onCommit
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
        while let taken = queue.take(atMost: Self.groupLimit) {
            let (group, rest) = assemble(taken)
            queue.putBack(rest.map(\.submission), bytes: rest.map(\.bytes))
            commit(group)
        }
    }

    private struct Flattened {
        let submission: Submission
        let operation: Result<WriteOperation, CacheError>
        var bytes: Int { (try? operation.get().byteCount) ?? 0 }
    }

    /// The submissions of one transaction: as many as fit, and those that stand alone alone.
    private func assemble(_ taken: [Submission]) -> (group: [Flattened], rest: [(submission: Submission, bytes: Int)]) {
        var group: [Flattened] = []
        var bytes = 0
        for (index, submission) in taken.enumerated() {
            let flattened = Flattened(submission: submission, operation: submission.operation())
            let standsAlone = (try? flattened.operation.get().standsAlone) ?? false
            if !group.isEmpty, standsAlone || bytes + flattened.bytes > Self.groupBytes {
                let rest = taken[index...].map { ($0, $0 === submission ? flattened.bytes : Submission.assumedBytes) }
                return (group, rest)
            }
            group.append(flattened)
            bytes += flattened.bytes
            if standsAlone {
                return (group, taken[(index + 1)...].map { ($0, Submission.assumedBytes) })
            }
        }
        return (group, [])
    }

    private func commit(_ group: [Flattened]) {
        var operations: [WriteOperation] = []
        var submissions: [Submission] = []
        for item in group {
            switch item.operation {
            case .success(let operation):
                operations.append(operation)
                submissions.append(item.submission)
            case .failure(let error):
                item.submission.finish(.failure(error))
                queue.finish([item.submission])
            }
        }
        guard !operations.isEmpty else { return }
        do {
            finish(submissions, .success(try committer.commit(operations)))
        } catch {
            // One by one, so that each fails for its own reason.
            guard operations.count > 1 else { return finish(submissions, .failure(CacheError(error))) }
            for (operation, submission) in zip(operations, submissions) {
                do {
                    finish([submission], .success(try committer.commit([operation])))
                } catch {
                    finish([submission], .failure(CacheError(error)))
                }
            }
        }
    }

    private func finish(_ submissions: [Submission], _ result: Result<ChangeSet, CacheError>) {
        if case .success(let changes) = result, !changes.isEmpty { onCommit(changes) }
        for submission in submissions { submission.finish(result.map { _ in }) }
        queue.finish(submissions)
    }
}
