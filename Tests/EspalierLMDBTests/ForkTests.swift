import EspalierLMDB
import EspalierTestSupport
import Foundation
import Testing

/// Each test runs in a process of its own.
@Suite("Forked processes", .enabled(if: Fork.isAvailable))
struct ForkTests {
    @Test("A forked child cannot use or harm its parent's environment and can open its own")
    func child() async {
        await #expect(processExitsWith: .success) { try ForkPrograms.child() }
    }

    @Test("A transaction that a forked child inherits ends there without effect")
    func openTransactions() async {
        await #expect(processExitsWith: .success) { try ForkPrograms.openTransactions() }
    }

    @Test("A full reader table is freed of the slots of dead processes")
    func staleReaders() async {
        await #expect(processExitsWith: .success) { try ForkPrograms.staleReaders() }
    }
}

/// The programs of `ForkTests`. Each exits with 0, or with a number that tells where it failed.
private enum ForkPrograms {
    static func child() throws -> Never {
        disableCoreFiles()
        let scratch = try Scratch()
        let environment = try scratch.open()
        try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
        let status = Fork.run {
            guard code({ try environment.read { _ in } }) == .usedAfterFork else { return 10 }
            guard code({ _ = try environment.beginWrite() }) == .usedAfterFork else { return 11 }
            guard code({ try environment.clearStaleReaders() }) == .usedAfterFork else { return 12 }
            environment.close()
            guard let own = try? scratch.open() else { return 13 }
            guard (try? own.write { try $0.put(own.nodes, UInt64(2), [2]) }) != nil else {
                return 14
            }
            own.close()
            return 0
        }
        guard status == 0 else { exit(status) }
        let seen = try environment.read { try $0.value(environment.nodes, UInt64(2)) }
        try environment.write { try $0.put(environment.nodes, UInt64(3), [3]) }
        exit(seen == [2] ? 0 : 20)
    }

    static func openTransactions() throws -> Never {
        disableCoreFiles()
        let environment = try Scratch().open()
        var transaction = try environment.beginWrite()
        try transaction.put(environment.nodes, UInt64(1), [1])
        var status: Int32 = -1
        try environment.read { _ in
            status = Fork.run { code { try environment.sync() } == .usedAfterFork ? 0 : 10 }
        }
        try transaction.commit()
        let seen = try environment.read { try $0.value(environment.nodes, UInt64(1)) }
        exit(status == 0 && seen == [1] ? 0 : 20)
    }

    static func staleReaders() throws -> Never {
        disableCoreFiles()
        let scratch = try Scratch()
        let environment = try scratch.open(readers: 2)
        let status = Fork.run {
            guard let own = try? scratch.open(readers: 2) else { return 10 }
            // The process exits inside the read, which therefore never ends.
            try? own.read { _ in _exit(0) }
            return 11
        }
        guard status == 0 else { exit(status) }
        guard try environment.readers().count == 1 else { exit(20) }
        try environment.read { _ in try environment.read { _ in } }
        exit(0)
    }
}
