import Dispatch
import Foundation
import Testing

@testable import EspalierLMDB

@Suite("Mark of intact files")
struct MarkTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func tamper() throws {
        // Longer than a tick of the coarsest clock of a file system.
        Thread.sleep(forTimeInterval: 0.02)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.data))
        try file.seekToEnd()
        try file.write(contentsOf: Data(count: 4_096))
        try file.close()
    }

    @Test(
        "A file stays marked after each operation on its environment",
        arguments: Environment.Durability.allCases)
    func marked(durability: Environment.Durability) throws {
        let environment = try scratch.open(mapSize: 256 << 10, durability: durability)
        try #expect(scratch.isMarked)
        for number in UInt64(0)..<20 {
            try environment.write {
                try $0.put(environment.nodes, number, [UInt8](repeating: 1, count: 500))
            }
            try #expect(scratch.isMarked)
        }
        try environment.beginWrite().abort()
        try #expect(scratch.isMarked)
        #expect(
            code {
                try environment.write { transaction in
                    for number in UInt64(0)..<200 {
                        try transaction.put(
                            environment.nodes, number, [UInt8](repeating: 1, count: 3_000))
                    }
                }
            } == .mapFull)
        try #expect(scratch.isMarked)
        try environment.sync()
        try #expect(scratch.isMarked)
        environment.close()
        try #expect(scratch.isMarked)
        try scratch.open(mapSize: 256 << 10, durability: durability).close()
        try #expect(scratch.isMarked)
    }

    @Test("A killed process leaves its file marked")
    func killed() async throws {
        try scratch.open().close()
        let root = scratch.root
        await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String] in
            disableCoreFiles()
            let guardFile = try GuardFile(path: root + "/guard", create: false)
            let environment = try Environment.open(
                directory: root + "/g", guardedBy: guardFile, keyspaces: ["nodes", "index"],
                options: .init(mapSize: 4 << 20))
            for number in UInt64(0)..<50 {
                try environment.write { try $0.put(environment.nodes, number, [1]) }
            }
            kill(getpid(), SIGKILL)
        }
        try #expect(scratch.isMarked)
    }

    @Test("Only a file that has reached the disk keeps its mark after a restart")
    func restart() throws {
        func marks() throws -> IntactMark {
            let folder = try OpenFile(directory: scratch.directory, .open)
            return IntactMark(
                try folder.status(of: "data.mdb", .open) ?? { throw LMDBError(.notFound, .open) }())
        }
        var environment = try scratch.open(durability: .noSync)
        try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
        try #expect(scratch.guardFile.mark == marks().untilRestart)
        try environment.sync()
        try #expect(scratch.guardFile.mark == marks().durable)
        environment.close()
        environment = try scratch.open(durability: .noMetaSync)
        try #expect(scratch.guardFile.mark == marks().durable)
        try environment.write { try $0.put(environment.nodes, UInt64(1), [2]) }
        try #expect(scratch.guardFile.mark == marks().durable)
        try #expect(marks().durable != marks().untilRestart)
        environment.close()
    }

    @Test("A file that another program has changed stays unmarked until it is checked")
    func touched() throws {
        var environment = try scratch.open()
        try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
        try tamper()
        try #expect(!scratch.isMarked)
        for number in UInt64(0)..<5 {
            try environment.write { try $0.put(environment.nodes, number, [1]) }
        }
        try environment.sync()
        environment.close()
        try #expect(!scratch.isMarked)
        environment = try scratch.open()
        try #expect(scratch.isMarked)
        try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
        try #expect(scratch.isMarked)
        environment.close()
    }

    @Test("A file stays marked while several threads write")
    func threads() throws {
        let environment = try scratch.open()
        DispatchQueue.concurrentPerform(iterations: 4) { worker in
            for number in UInt64(0)..<200 {
                _ = try? environment.write {
                    try $0.put(environment.nodes, UInt64(worker) << 32 | number, [1])
                }
            }
        }
        try #expect(scratch.isMarked)
        environment.close()
    }
}
