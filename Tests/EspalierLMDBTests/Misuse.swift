import Dispatch
import EspalierLMDB
import Foundation

/// What `MisuseTests` runs, each in a process of its own. Returning means that nothing trapped.
enum Misuse {
    static func otherThread() throws {
        quiet()
        let environment = try Scratch().open()
        var transaction: WriteTransaction? = try environment.beginWrite()
        unsafe withUnsafeMutablePointer(to: &transaction) { pointer in
            nonisolated(unsafe) let pointer = unsafe pointer
            let done = DispatchSemaphore(value: 0)
            Thread {
                unsafe pointer.pointee = nil
                done.signal()
            }.start()
            done.wait()
        }
    }

    static func twice() throws {
        quiet()
        let environment = try Scratch().open()
        let first = try environment.beginWrite()
        _ = try environment.beginWrite()
        first.abort()
    }

    static func otherEnvironment() throws {
        quiet()
        let (one, two) = (try Scratch().open(), try Scratch().open())
        _ = try one.read { try $0.value(two.nodes, UInt64(1)) }
    }

    static func unknownKeyspace() throws {
        quiet()
        _ = try Scratch().open().keyspace("missing")
    }

    static func borrowed() throws {
        quiet()
        let environment = try Scratch().open()
        try environment.write { transaction in
            try transaction.put(environment.nodes, UInt64(1), [1])
            let snapshot = transaction.snapshot
            _ = try snapshot.withValue(environment.nodes, UInt64(1)) { _ in
                try transaction.put(environment.nodes, UInt64(2), [2])
            }
        }
    }

    static func control() throws {
        quiet()
        let environment = try Scratch().open()
        try environment.write { transaction in
            try transaction.put(environment.nodes, UInt64(1), [1])
            let snapshot = transaction.snapshot
            _ = try snapshot.withValue(environment.nodes, UInt64(1)) { _ in }
            try transaction.put(environment.nodes, UInt64(2), [2])
        }
    }
}
