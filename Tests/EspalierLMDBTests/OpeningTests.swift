import EspalierLMDB
import Foundation
import Testing

@Suite("Opening an environment")
struct OpeningTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    func mode(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
    }

    func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? -1
    }

    @Test("A process cannot open a directory twice, whatever the path")
    func once() throws {
        let environment = try scratch.open()
        #expect(code { _ = try scratch.open() } == .alreadyOpen)
        #expect(code { _ = try scratch.open(at: scratch.root + "/./g/") } == .alreadyOpen)
        try FileManager.default.createSymbolicLink(
            atPath: scratch.root + "/link", withDestinationPath: scratch.directory)
        #expect(code { _ = try scratch.open(at: scratch.root + "/link") } == .alreadyOpen)
        environment.close()
        _ = try scratch.open(at: scratch.root + "/link")
    }

    @Test("An abandoned environment is not used again, also while a read is open")
    func abandoned() throws {
        for isAbandoned in [true, false] {
            let environment = try scratch.open()
            do {
                let read = try environment.beginRead()
                if isAbandoned { environment.abandon() } else { environment.close() }
                let code = code { _ = try scratch.open() }
                #expect(code == (isAbandoned ? .alreadyOpen : nil))
                _ = read.number
            }
            environment.close()
            _ = try scratch.open()
        }
    }

    @Test("A map that was raised in vain gets its size back")
    func shrink() throws {
        let environment = try scratch.open()
        let size = environment.mapSize
        try environment.resize(mapSize: size * 2, deadline: .seconds(1))
        #expect(environment.mapSize == size * 2)
        try environment.shrink(mapSize: size, deadline: .seconds(1))
        #expect(environment.mapSize == size)
        try environment.shrink(mapSize: size * 4, deadline: .seconds(1))
        #expect(environment.mapSize == size)
        try environment.write { try $0.put(environment.keyspace("nodes"), [1], [2]) }
    }

    @Test("An environment that is dropped is closed")
    func dropped() throws {
        do { _ = try scratch.open() }
        _ = try scratch.open()
    }

    @Test("A failed open has no effect on later ones")
    func failedOpen() throws {
        #expect(code { _ = try scratch.open(readOnly: true) } == .notFound)
        #expect(code { _ = try scratch.open(at: scratch.root + "/nowhere") } == .notFound)
        let environment = try scratch.open(keyspaces: ["nodes"])
        environment.close()
        #expect(
            code { _ = try scratch.open(keyspaces: ["nodes", "more"], readOnly: true) }
                == .missingKeyspace)
        let more = try scratch.open(keyspaces: ["nodes", "more"])
        more.close()
        _ = try scratch.open(keyspaces: ["more"], readOnly: true)
    }

    @Test("A directory can be opened while its removed predecessor is still open")
    func removedDirectory() throws {
        for _ in 0..<20 {
            let environment = try scratch.open()
            try FileManager.default.removeItem(atPath: scratch.directory)
            try FileManager.default.createDirectory(
                atPath: scratch.directory, withIntermediateDirectories: false)
            let other = try scratch.open()
            withExtendedLifetime((environment, other)) {}
        }
    }

    @Test("All files can be read by their owner only")
    func modes() throws {
        let environment = try scratch.open()
        try #expect(mode(scratch.data) == 0o600)
        try #expect(mode(scratch.lock) == 0o600)
        try #expect(mode(scratch.root + "/guard") == 0o600)
        withExtendedLifetime(environment) {}
    }

    @Test(
        "Programs that the process starts inherit no descriptor",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
    func closeOnExec() throws {
        let environment = try scratch.open()
        var ours = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            guard let descriptor = Int32(name) else { continue }
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/fd/" + name)
            guard let target, target.contains(scratch.root.split(separator: "/").last ?? "?") else {
                continue
            }
            ours += 1
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0, "\(target)")
        }
        #expect(ours >= 3)
        withExtendedLifetime(environment) {}
    }

    @Test(
        "The lock file is not sparse",
        arguments: [(1, 192), (126, 8_192), (1_000, 64_128)])
    func lockFile(readers: Int, bytes: Int) throws {
        let environment = try scratch.open(readers: readers)
        try #expect(size(scratch.lock) == bytes)
        var status = stat()
        #expect(unsafe stat(scratch.lock, &status) == 0)
        #expect(Int(status.st_blocks) * 512 >= bytes)
        environment.close()
        _ = try scratch.open(readers: readers)
        try #expect(size(scratch.lock) == bytes)
    }

    @Test(
        "Links, directories and pipes in the place of a file are refused",
        arguments: ["data.mdb", "lock.mdb"])
    func links(name: String) throws {
        let path = scratch.directory + "/" + name
        let target = scratch.root + "/target"
        let files = FileManager.default
        try files.createSymbolicLink(atPath: path, withDestinationPath: target)
        #expect(code { _ = try scratch.open() } == .badPath)
        #expect(!files.fileExists(atPath: target))
        try files.removeItem(atPath: path)
        #expect(files.createFile(atPath: target, contents: nil))
        try files.linkItem(atPath: target, toPath: path)
        #expect(code { _ = try scratch.open() } == .badPath)
        try files.removeItem(atPath: path)
        try files.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(code { _ = try scratch.open() } == .badPath)
        try files.removeItem(atPath: path)
        #expect(unsafe mkfifo(path, 0o600) == 0)
        #expect(code { _ = try scratch.open() } == .badPath)
        try files.removeItem(atPath: path)
        _ = try scratch.open()
    }

    @Test("Each durability can open, commit and sync", arguments: Environment.Durability.allCases)
    func durability(_ durability: Environment.Durability) throws {
        let environment = try scratch.open(durability: durability)
        try environment.write { try $0.put(environment.nodes, UInt64(1), [1]) }
        try environment.sync()
        environment.close()
        let again = try scratch.open(durability: durability)
        try #expect(again.read { try $0.value(again.nodes, UInt64(1)) } == [1])
    }

    @Test("The holder of a guard's lock can open an environment")
    func underLock() throws {
        let environment = try scratch.guardFile.withExclusiveLock { lock in
            try Environment.open(
                directory: scratch.directory, under: lock, keyspaces: ["nodes"],
                options: .init(mapSize: 1 << 20))
        }
        #expect(environment.keyspace("nodes").name == "nodes")
    }
}
