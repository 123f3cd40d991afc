import Dispatch
import Foundation
import Synchronization

/// Looks at the size of a directory's files a thousand times a second, and remembers the most it
/// has seen.
final class DirectoryWatcher: Sendable {
    private struct State {
        var most = 0
        var isOver = false
    }
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)
    private let path: String

    init(path: String) {
        self.path = path
        let thread = Thread { [self] in
            while !state.withLock({ $0.isOver }) {
                look()
                Thread.sleep(forTimeInterval: 0.001)
            }
            ended.signal()
        }
        thread.name = "watcher"
        thread.start()
    }

    private func look() {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        let bytes = files.reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(file)")
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { return sum }
            return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
        }
        state.withLock { $0.most = max($0.most, bytes) }
    }

    /// Ends watching; the most bytes that were seen.
    @discardableResult
    func stop() -> Int {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        if isFirst { ended.wait() }
        return state.withLock { $0.most }
    }
}
