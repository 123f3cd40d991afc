import Dispatch
import EspalierLMDB
import Foundation
import Testing

/// Programmer errors stop the process before C is called.
@Suite("Programmer errors")
struct MisuseTests {
    /// Checks the message of a trap in debug builds. Optimised builds trap without a message.
    func expectMessage(_ text: String, of result: ExitTest.Result?) {
        #if DEBUG
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains(text))
        #endif
    }

    @Test("A write transaction that ends on another thread traps")
    func otherThread() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            try Misuse.otherThread()
        }
        expectMessage("on the thread that began it", of: result)
    }

    @Test("A second write on the same thread traps instead of waiting for itself")
    func twice() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            try Misuse.twice()
        }
        expectMessage("is writing already", of: result)
    }

    @Test("Using a keyspace of another environment traps")
    func otherEnvironment() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            try Misuse.otherEnvironment()
        }
        expectMessage("another environment", of: result)
    }

    @Test("Asking for a keyspace that was not opened traps")
    func unknownKeyspace() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            try Misuse.unknownKeyspace()
        }
        expectMessage("no keyspace missing", of: result)
    }

    @Test("Writing while a value of a snapshot is in use traps")
    func borrowed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            try Misuse.borrowed()
        }
        expectMessage("while one of its values was borrowed", of: result)
    }

    @Test("A correct program exits normally where a wrong one traps")
    func control() async {
        await #expect(processExitsWith: .success) { try Misuse.control() }
    }
}

/// The programs of `MisuseTests`. Each runs in a process of its own and returns if nothing trapped.
private enum Misuse {
    static func otherThread() throws {
        disableCoreFiles()
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
        disableCoreFiles()
        let environment = try Scratch().open()
        let first = try environment.beginWrite()
        _ = try environment.beginWrite()
        first.abort()
    }

    static func otherEnvironment() throws {
        disableCoreFiles()
        let (one, two) = (try Scratch().open(), try Scratch().open())
        _ = try one.read { try $0.value(two.nodes, UInt64(1)) }
    }

    static func unknownKeyspace() throws {
        disableCoreFiles()
        _ = try Scratch().open().keyspace("missing")
    }

    static func borrowed() throws {
        disableCoreFiles()
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
        disableCoreFiles()
        let environment = try Scratch().open()
        try environment.write { transaction in
            try transaction.put(environment.nodes, UInt64(1), [1])
            let snapshot = transaction.snapshot
            _ = try snapshot.withValue(environment.nodes, UInt64(1)) { _ in }
            try transaction.put(environment.nodes, UInt64(2), [2])
        }
    }
}
