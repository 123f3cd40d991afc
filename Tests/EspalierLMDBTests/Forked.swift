import EspalierLMDB
import Foundation

/// What `ForkTests` runs, each in a process of its own, which exits with a number that says where
/// it failed.
enum Forked {
    static func child() throws -> Never {
        quiet()
        let scratch = try Scratch()
        let environment = try scratch.open()
        try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
        let status = Forking.run {
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
        quiet()
        let environment = try Scratch().open()
        var transaction = try environment.beginWrite()
        try transaction.put(environment.nodes, UInt64(1), [1])
        var status: Int32 = -1
        try environment.read { _ in
            status = Forking.run { code { try environment.sync() } == .usedAfterFork ? 0 : 10 }
        }
        try transaction.commit()
        let seen = try environment.read { try $0.value(environment.nodes, UInt64(1)) }
        exit(status == 0 && seen == [1] ? 0 : 20)
    }

    static func staleReaders() throws -> Never {
        quiet()
        let scratch = try Scratch()
        let environment = try scratch.open(readers: 2)
        let status = Forking.run {
            guard let own = try? scratch.open(readers: 2) else { return 10 }
            // Dies inside the read, which nobody ends.
            try? own.read { _ in _exit(0) }
            return 11
        }
        guard status == 0 else { exit(status) }
        guard try environment.readers().count == 1 else { exit(20) }
        try environment.read { _ in try environment.read { _ in } }
        exit(0)
    }
}
