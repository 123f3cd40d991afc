import Dispatch
import EspalierLMDB
import Foundation
import Testing

@Suite("Closing an environment")
struct ClosingTests {
    @Test("A closed environment refuses all calls and can be closed again")
    func refuses() throws {
        let environment = try Scratch().open()
        environment.close()
        environment.close()
        #expect(environment.isClosed)
        #expect(code { try environment.read { _ in } } == .closed)
        #expect(code { _ = try environment.beginWrite() } == .closed)
        #expect(code { _ = try environment.readers() } == .closed)
        #expect(code { try environment.clearStaleReaders() } == .closed)
        #expect(code { try environment.sync() } == .closed)
        #expect(code { _ = try environment.lastTransaction } == .closed)
    }

    /// ```
    /// reader thread                      this thread
    /// begins a read
    ///                                    close
    ///                                    new reads throw, the directory is still taken
    /// reads on, ends
    ///                                    the directory can be opened
    /// ```
    @Test("A file is closed only after its open reads have ended")
    func duringRead() throws {
        let scratch = try Scratch()
        let environment = try scratch.open()
        let nodes = environment.nodes
        try environment.write { try $0.put(nodes, UInt64(1), [1]) }
        let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let good = Counter()
        let thread = Thread {
            try? environment.read { transaction in
                begun.signal()
                mayEnd.wait()
                if try transaction.value(nodes, UInt64(1)) == [1] { good.add() }
            }
            begun.signal()
        }
        thread.start()
        begun.wait()
        environment.close()
        #expect(code { try environment.read { _ in } } == .closed)
        // With the same options, the environment of the read would be open again.
        #expect(code { _ = try scratch.open(readers: 64) } == .alreadyOpen)
        mayEnd.signal()
        begun.wait()
        #expect(good.count == 1)
        _ = try scratch.open()
    }

    @Test("A write that is open when its environment is closed can be committed")
    func duringWrite() throws {
        let scratch = try Scratch()
        let environment = try scratch.open()
        var transaction = try environment.beginWrite()
        environment.close()
        try transaction.put(environment.nodes, UInt64(1), [1])
        try transaction.commit()
        let again = try scratch.open()
        try #expect(again.read { try $0.value(again.nodes, UInt64(1)) } == [1])
    }

    @Test("Reads that race with a close either succeed or throw .closed")
    func races() throws {
        let scratch = try Scratch()
        let strange = Counter()
        for _ in 0..<50 {
            let environment = try scratch.open()
            DispatchQueue.concurrentPerform(iterations: 4) { worker in
                if worker == 3 { return environment.close() }
                for _ in 0..<50 {
                    let error = code {
                        try environment.read { _ = try $0.value(environment.nodes, UInt64(1)) }
                    }
                    if error != nil && error != .closed { strange.add() }
                }
            }
        }
        #expect(strange.count == 0)
    }
}
