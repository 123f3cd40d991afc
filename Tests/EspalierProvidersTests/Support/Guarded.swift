import Foundation

var isMainThread: Bool { Thread.isMainThread }

/// A value that any thread may change, one at a time. Not a `Mutex`, which the thread sanitizer
/// does not know.
final class Guarded<Value>: @unchecked Sendable {
    // `@unchecked`: the lock is held whenever the value is touched.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
