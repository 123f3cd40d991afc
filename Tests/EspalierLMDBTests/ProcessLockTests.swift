import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierLMDB

@Suite("The lock in front of LMDB's mutexes")
struct ProcessLockTests {
    @Test("A write waits for another process until its deadline, and succeeds afterwards")
    func writer() throws {
        let scratch = try Scratch()
        let environment = try scratch.open()
        let other = try ForeignLock(scratch.data)
        #expect(code { _ = try environment.beginWrite(deadline: .milliseconds(20)) } == .busy)
        #expect(code { _ = try environment.beginWrite(deadline: .zero) } == .busy)
        // Reads need no lock, and a reader slot has a lock of its own.
        try environment.read { _ in try environment.read { _ in } }
        other.release()
        try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
        #expect(try environment.read { try $0.value(environment.nodes, UInt64(1)) } == [1])
    }

    @Test("A new reader slot waits for another process until the deadline")
    func readers() throws {
        let scratch = try Scratch()
        let environment = try scratch.open(lockDeadline: .milliseconds(20))
        let other = try ForeignLock(scratch.directory)
        #expect(code { try environment.read { _ in } } == .busy)
        #expect(code { try environment.clearStaleReaders() } == .busy)
        try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
        other.release()
        try environment.read { _ in }
        let again = try ForeignLock(scratch.directory)
        // A pooled reader has its slot.
        try environment.read { _ in }
        again.release()
    }

    @Test("A thread waits for another thread's write until its deadline")
    func threads() throws {
        let environment = try Scratch().open()
        let (isWriting, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? environment.write {
                try $0.put(environment.nodes, UInt64(1), [1])
                isWriting.signal()
                mayEnd.wait()
            }
            ended.signal()
        }
        isWriting.wait()
        #expect(code { _ = try environment.beginWrite(deadline: .milliseconds(20)) } == .busy)
        mayEnd.signal()
        ended.wait()
        try environment.write { try $0.put(environment.nodes, UInt64(2), [2]) }
        #expect(try environment.read { try $0.value(environment.nodes, UInt64(1)) } == [1])
    }

    @Test("Opening waits for another process that opens, until the deadline")
    func guardLock() throws {
        let scratch = try Scratch()
        let other = try ForeignLock(scratch.root + "/guard")
        #expect(code { _ = try scratch.open(lockDeadline: .milliseconds(20)) } == .busy)
        other.release()
        _ = try scratch.open(lockDeadline: .milliseconds(20))
    }

    @Test("An environment that is opened again while a read runs is the one of that read")
    func reopening() throws {
        let scratch = try Scratch()
        let environment = try scratch.open()
        try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
        try environment.read { transaction in
            environment.close()
            #expect(environment.isClosed)
            let again = try scratch.open()
            #expect(again === environment)
            try again.write { try $0.put(again.nodes, UInt64(2), [2]) }
            #expect(try transaction.value(environment.nodes, UInt64(2)) == nil)
            #expect(code { _ = try scratch.open() } == .alreadyOpen)
        }
        #expect(try environment.read { try $0.value(environment.nodes, UInt64(2)) } == [2])
        environment.close()
        #expect(try scratch.open() !== environment)
    }

    @Test("Others give up on a process that is stopped in a write, and go on when it continues")
    func stopped() async {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let child = Fork.start {
                guard let own = try? scratch.open(), var transaction = try? own.beginWrite() else {
                    return 10
                }
                guard (try? transaction.put(own.nodes, UInt64(1), [1])) != nil else { return 11 }
                raise(SIGSTOP)
                return (try? transaction.commit()) == nil ? 12 : 0
            }
            Fork.waitUntilStopped(child)
            let environment = try scratch.open(lockDeadline: .milliseconds(50))
            guard code({ try environment.write { _ in } }) == .busy else { exit(20) }
            guard try environment.read({ try $0.value(environment.nodes, UInt64(1)) }) == nil else {
                exit(21)
            }
            kill(child, SIGCONT)
            guard Fork.wait(for: child) == 0 else { exit(22) }
            try environment.write { try $0.put(environment.nodes, UInt64(2), [2]) }
            let seen = try environment.read { try $0.value(environment.nodes, UInt64(1)) }
            exit(seen == [1] ? 0 : 23)
        }
    }

    @Test("The lock of a process that dies is free, even if a child of it lives on")
    func orphan() async {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let child = Fork.run {
                guard let own = try? scratch.open(), (try? own.beginWrite()) != nil else {
                    return 10
                }
                // The grandchild inherits the descriptor of the lock.
                let transaction = try? own.beginWrite()
                _ = Fork.start {
                    sleep(20)
                    return 0
                }
                return transaction == nil ? 11 : 0
            }
            guard child == 0 else { exit(child) }
            let environment = try scratch.open(lockDeadline: .seconds(10))
            try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
            exit(0)
        }
    }
}
