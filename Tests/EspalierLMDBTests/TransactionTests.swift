import Dispatch
import EspalierLMDB
import Foundation
import Testing

@Suite("Transactions")
struct TransactionTests {
    let scratch: Scratch
    let environment: Environment
    let nodes: Keyspace

    init() throws {
        scratch = try Scratch()
        environment = try scratch.open()
        nodes = environment.nodes
    }

    @Test("A read sees one commit, whatever is committed meanwhile")
    func isolation() throws {
        try environment.write { try $0.put(nodes, UInt64(1), [1]) }
        try environment.read { old in
            try environment.write { try $0.put(nodes, UInt64(1), [2]) }
            try #expect(old.value(nodes, UInt64(1)) == [1])
            try environment.read { new in
                try #expect(new.value(nodes, UInt64(1)) == [2])
                #expect(new.number == old.number + 1)
            }
            try #expect(old.value(nodes, UInt64(1)) == [1])
        }
    }

    @Test("The number of a write is that of its commit")
    func numbers() throws {
        var transaction = try environment.beginWrite()
        let number = transaction.number
        try transaction.put(nodes, UInt64(1), [1])
        try transaction.commit()
        try #expect(environment.lastTransaction == number)
        try #expect(environment.read { $0.number } == number)
    }

    @Test("A write that is dropped or aborted changes nothing and admits the next one")
    func dropping() throws {
        do {
            var transaction = try environment.beginWrite()
            try transaction.put(nodes, UInt64(1), [1])
        }
        var transaction = try environment.beginWrite()
        try transaction.put(nodes, UInt64(2), [2])
        transaction.abort()
        try #expect(environment.read { try $0.statistics(of: nodes).entries } == 0)
        try environment.write { try $0.put(nodes, UInt64(3), [3]) }
        try #expect(environment.read { try $0.statistics(of: nodes).entries } == 1)
    }

    @Test("A thousand reads in a row occupy one slot")
    func pooling() throws {
        for _ in 0..<1_000 {
            try environment.read { try #expect($0.value(nodes, UInt64(1)) == nil) }
        }
        let readers = try environment.readers()
        #expect(readers.count == 1)
        #expect(readers.first?.processIdentifier == getpid())
        #expect(readers.first?.transaction == nil)
        #expect(readers.first?.lag == nil)
    }

    @Test("Reads see whole commits while another thread writes")
    func concurrency() throws {
        let commits: UInt64 = 300
        let (environment, nodes) = (environment, nodes)
        try environment.write { transaction in
            for key in UInt64(0)..<16 {
                try transaction.put(nodes, key, KeyPair(0, 0).withBytes { copy($0) })
            }
        }
        let torn = Counter()
        DispatchQueue.concurrentPerform(iterations: 4) { worker in
            do {
                if worker == 0 {
                    for round in 1...commits {
                        try environment.write { transaction in
                            let value = KeyPair(round, round).withBytes { copy($0) }
                            for key in UInt64(0)..<16 { try transaction.put(nodes, key, value) }
                        }
                    }
                } else {
                    for _ in 0..<2_000 {
                        let seen = try environment.read { transaction in
                            try Set((UInt64(0)..<16).map { try transaction.value(nodes, $0) })
                        }
                        if seen.count != 1 { torn.add() }
                    }
                }
            } catch { torn.add() }
        }
        #expect(torn.count == 0)
        let last = try environment.read { try $0.withValue(nodes, UInt64(3)) { KeyPair($0) } }
        #expect(last == KeyPair(commits, commits))
    }

    @Test("Writes on several threads lose no change")
    func writersTakeTurns() throws {
        let (environment, nodes) = (environment, nodes)
        let failures = Counter()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<100 {
                do {
                    try environment.write { transaction in
                        let old =
                            try transaction.withValue(nodes, UInt64(1)) { KeyPair($0)?.first ?? 0 }
                            ?? 0
                        try transaction.put(
                            nodes, UInt64(1), KeyPair(old + 1, 0).withBytes { copy($0) })
                    }
                } catch { failures.add() }
            }
        }
        #expect(failures.count == 0)
        try #expect(
            environment.read { try $0.withValue(nodes, UInt64(1)) { KeyPair($0) } }
                == KeyPair(400, 0))
    }

    @Test("A read-only environment reads and refuses to write")
    func readOnly() throws {
        try environment.write { try $0.put(nodes, UInt64(1), [1]) }
        environment.close()
        let reading = try scratch.open(readOnly: true)
        try #expect(reading.read { try $0.value(reading.nodes, UInt64(1)) } == [1])
        #expect(code { _ = try reading.beginWrite() } == .notWritable)
    }
}
