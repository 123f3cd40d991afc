import Foundation

var isMainThread: Bool { Thread.isMainThread }

/// A value that any thread may change. Not a `Mutex`, which the thread sanitizer does not know.
final class Guarded<Value>: @unchecked Sendable {
    // `@unchecked`: the value is accessed only under the lock.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
