import Dispatch
import Foundation
import Synchronization

@testable import EspalierStore

/// Looks at the size of a cache's directory all the time, on a thread of its own, and remembers the
/// most it has seen.
final class SizeWatch: Sendable {
    private struct State {
        var most = 0
        var isOver = false
    }
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    init(_ path: String) {
        let directory = CacheDirectory(path)
        Thread.detachNewThread { [self] in
            while !state.withLock({ $0.isOver }) {
                let bytes = directory.byteCount()
                state.withLock { $0.most = max($0.most, bytes) }
                Thread.sleep(forTimeInterval: 0.002)
            }
            ended.signal()
        }
    }

    /// Ends watching. The most bytes that were seen.
    func stop() -> ByteCount {
        state.withLock { $0.isOver = true }
        ended.wait()
        return ByteCount(state.withLock { $0.most })
    }
}
