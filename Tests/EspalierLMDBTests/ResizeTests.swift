import Dispatch
import EspalierLMDB
import Foundation
import Testing

@Suite("Resizing the map")
struct ResizeTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func fill(_ environment: Environment, _ entries: Range<UInt64>) throws {
        for number in entries {
            try environment.write {
                try $0.put(environment.nodes, number, [UInt8](repeating: 1, count: 4_000))
            }
        }
    }

    @Test("A raised map has room for more entries, which stay after a new open")
    func larger() throws {
        var environment = try scratch.open(mapSize: 256 << 10)
        #expect(code { try fill(environment, 0..<200) } == .mapFull)
        try environment.resize(mapSize: 2 << 20, deadline: .zero)
        #expect(environment.mapSize == 2 << 20)
        try fill(environment, 0..<200)
        try environment.read { transaction in
            let usage = try transaction.pages()
            #expect(usage.capacity == (2 << 20) / usage.pageSize - 1)
            try #expect(transaction.statistics(of: environment.nodes).entries == 200)
        }
        environment.close()
        environment = try scratch.open(mapSize: 2 << 20)
        try #expect(environment.read { try $0.statistics(of: environment.nodes).entries } == 200)
        environment.close()
    }

    @Test("A resize to a smaller or an impossible size changes nothing")
    func smaller() throws {
        let environment = try scratch.open(mapSize: 1 << 20)
        for size in [1 << 20, 4_096, 1, (1 << 20) + 4_095] {
            try environment.resize(mapSize: size, deadline: .zero)
            #expect(environment.mapSize == 1 << 20)
        }
        #expect(code { try environment.resize(mapSize: 1 << 52, deadline: .zero) } == .outOfMemory)
        try fill(environment, 0..<10)
        environment.close()
        #expect(code { try environment.resize(mapSize: 2 << 20, deadline: .zero) } == .closed)
    }

    /// ```
    /// stuck reader           resizer                another thread
    /// reads
    ///                        waits for it
    ///   nested read          .                      waits
    ///   .                    .busy                  reads, in the old map
    /// ends
    /// ```
    @Test("A resize throws .busy if a reader does not end, and the old map stays usable")
    func stuck() throws {
        let environment = try scratch.open(mapSize: 1 << 20)
        try fill(environment, 0..<10)
        let (begun, mayEnd, ended) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let good = Counter()
        Thread {
            try? environment.read { transaction in
                begun.signal()
                mayEnd.wait()
                try environment.read { _ in }
                if try transaction.value(environment.nodes, UInt64(3))?.count == 4_000 {
                    good.add()
                }
            }
            ended.signal()
        }.start()
        begun.wait()
        #expect(
            code { try environment.resize(mapSize: 2 << 20, deadline: .milliseconds(30)) } == .busy)
        #expect(environment.mapSize == 1 << 20)
        try environment.read { _ in }
        try fill(environment, 0..<10)
        mayEnd.signal()
        ended.wait()
        #expect(good.count == 1)
        try environment.resize(mapSize: 2 << 20, deadline: .seconds(10))
        #expect(environment.mapSize == 2 << 20)
        try fill(environment, 0..<300)
        environment.close()
    }

    @Test("A resize inside of a transaction throws .busy at once")
    func inside() throws {
        let environment = try scratch.open(mapSize: 1 << 20)
        try environment.read { _ in
            #expect(
                code { try environment.resize(mapSize: 2 << 20, deadline: .seconds(600)) } == .busy)
            #expect(code { try environment.followMapSize(deadline: .seconds(600)) } == .busy)
        }
        try environment.write { _ in
            #expect(
                code { try environment.resize(mapSize: 2 << 20, deadline: .seconds(600)) } == .busy)
        }
        try environment.resize(mapSize: 2 << 20, deadline: .zero)
        environment.close()
    }

    @Test("Reads, nested reads and writes succeed while the map is raised repeatedly")
    func hammer() throws {
        let environment = try scratch.open(mapSize: 1 << 20)
        let nodes = environment.nodes
        try fill(environment, 0..<10)
        let failures = Counter()
        DispatchQueue.concurrentPerform(iterations: 5) { worker in
            do {
                for round in 0..<100 {
                    switch worker {
                    case 0:
                        let size = (1 << 20) + (round + 1) * 8_192
                        do { try environment.resize(mapSize: size, deadline: .seconds(60)) } catch {
                            failures.add()
                        }
                        if environment.mapSize != size { failures.add() }
                    case 1:
                        try environment.write {
                            try $0.put(
                                nodes, UInt64(round % 10), [UInt8](repeating: 1, count: 4_000))
                        }
                    default:
                        try environment.read { transaction in
                            let value = try transaction.value(nodes, UInt64(round % 10))
                            let inner = try environment.read {
                                try $0.value(nodes, UInt64(round % 10))
                            }
                            if value?.count != 4_000 || inner?.count != 4_000 { failures.add() }
                            if worker == 4 { Thread.sleep(forTimeInterval: 0.0005) }
                        }
                    }
                }
            } catch { failures.add() }
        }
        #expect(failures.count == 0)
        #expect(environment.mapSize == (1 << 20) + 100 * 8_192)
        environment.close()
    }

    @Test("An environment that is closed during a resize closes when the resize ends")
    func closing() throws {
        for round in 0..<20 {
            let environment = try scratch.open(mapSize: 1 << 20)
            DispatchQueue.concurrentPerform(iterations: 3) { worker in
                switch worker {
                case 0:
                    try? environment.resize(
                        mapSize: (2 << 20) + round * 8_192, deadline: .seconds(60))
                case 1: for _ in 0..<20 { try? environment.read { _ in } }
                default: environment.close()
                }
            }
        }
        _ = try scratch.open(mapSize: 1 << 20)
    }

    @Test("A process can follow another one that has raised the map")
    func following() async throws {
        let environment = try scratch.open(mapSize: 256 << 10)
        try fill(environment, 0..<5)
        let root = scratch.root
        await #expect(processExitsWith: .success) { [root = root as String] in
            disableCoreFiles()
            let guardFile = try GuardFile(path: root + "/guard", create: false)
            let environment = try Environment.open(
                directory: root + "/g", guardedBy: guardFile, keyspaces: ["nodes", "index"],
                options: .init(mapSize: 4 << 20, durability: .noSync))
            for number in UInt64(0)..<300 {
                try environment.write {
                    try $0.put(environment.nodes, number, [UInt8](repeating: 1, count: 4_000))
                }
            }
            environment.close()
        }
        #expect(code { try environment.read { _ in } } == .mapResized)
        #expect(code { _ = try environment.beginWrite() } == .mapResized)
        try environment.followMapSize(deadline: .seconds(10))
        #expect(environment.mapSize == 4 << 20)
        try #expect(environment.read { try $0.statistics(of: environment.nodes).entries } == 300)
        try environment.followMapSize(deadline: .seconds(10))
        try fill(environment, 300..<400)
        environment.close()
    }
}
