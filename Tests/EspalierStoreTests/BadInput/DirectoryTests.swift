import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Directories that cannot hold a cache")
struct DirectoryTests {
    @Test("A path with a NUL is refused, and nothing at the path before it changes")
    func nul() throws {
        let scratch = try Scratch()
        let path = scratch.root + "/e"
        #expect(code { _ = try NormalizedCache(directory: path + "\0x") } == .badDirectory)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("Opening creates a missing directory, unless its parent is missing")
    func missing() throws {
        let scratch = try Scratch()
        try scratch.open().close()
        #expect(FileManager.default.fileExists(atPath: scratch.directory))
        let deep = scratch.root + "/no/such/cache"
        #expect(code { _ = try NormalizedCache(directory: deep) } == .badDirectory)
        #expect(!FileManager.default.fileExists(atPath: scratch.root + "/no"))
        #expect(code { _ = try NormalizedCache(directory: "") } != nil)
    }

    @Test("Opening refuses a path that is a file, and leaves the file alone")
    func file() throws {
        let scratch = try Scratch()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch.directory))
        #expect(code { _ = try scratch.open() } == .badDirectory)
        #expect(
            code { _ = try NormalizedCache(directory: scratch.directory + "/cache") }
                == .badDirectory)
        #expect(try String(contentsOfFile: scratch.directory, encoding: .utf8) == "mine")
    }

    @Test(
        "Opening refuses a symbolic link, dangling or not, with a slash or without",
        arguments: ["", "/"])
    func link(suffix: String) throws {
        let scratch = try Scratch()
        try scratch.open().close()
        for target in [scratch.directory, scratch.root + "/nowhere"] {
            let link = scratch.root + "/link"
            try? FileManager.default.removeItem(atPath: link)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            #expect(
                code { _ = try NormalizedCache(directory: link + suffix, configuration: .forTests) }
                    == .badDirectory)
        }
    }

    @Test("Opening follows no links inside of the directory", arguments: ["guard", "current"])
    func linkInside(name: String) throws {
        let scratch = try Scratch()
        let victim = scratch.root + "/victim"
        try FileManager.default.createDirectory(
            atPath: scratch.directory, withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: victim))
        try FileManager.default.createSymbolicLink(
            atPath: scratch.directory + "/" + name, withDestinationPath: victim)
        if let cache = try? scratch.open() { cache.close() }
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
    }

    @Test(
        "Opening a directory that can't be written fails with that reason",
        arguments: [0o500, 0o000])
    func readOnly(mode: Int) async {
        await #expect(processExitsWith: .success) { [mode] in try Self.expectNotWritable(mode: mode)
        }
    }

    /// Runs in a process of its own, which gives up its privileges: the superuser may write every
    /// file.
    private static func expectNotWritable(mode: Int) throws {
        let scratch = try Scratch()
        try scratch.open().close()
        if geteuid() == 0 {
            for path in try FileManager.default.subpathsOfDirectory(atPath: scratch.root) {
                try giveAway(scratch.root + "/" + path)
            }
            try giveAway(scratch.root)
            guard setuid(nobody) == 0 else { exit(3) }
        }
        try set(mode, of: scratch.directory)
        let codes = [
            code { _ = try scratch.open() },
            code { _ = try NormalizedCache.existing(directory: scratch.directory) },
            code { _ = try NormalizedCache(directory: scratch.directory + "/inside") },
        ]
        try set(0o700, of: scratch.directory)
        print(codes)
        guard codes == [.notWritable, .notWritable, .notWritable] else { exit(4) }
        try scratch.open().close()
    }

    private static let nobody: UInt32 = 65_534

    private static func giveAway(_ path: String) throws {
        try FileManager.default.setAttributes(
            [.ownerAccountID: nobody, .groupOwnerAccountID: nobody], ofItemAtPath: path)
    }

    private static func set(_ mode: Int, of path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test("Opening refuses a directory of another user", .enabled(if: geteuid() == 0))
    func foreign() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.directory, withIntermediateDirectories: false)
        try Self.giveAway(scratch.directory)
        #expect(code { _ = try scratch.open() } == .badDirectory)
    }

    @Test("Opening refuses a newer format, and leaves the files as they are")
    func newerFormat() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        try cache.set(Person("p:1", "Anna")).wait()
        let format = [UInt8]("format".utf8)
        func version(_ difference: UInt8) -> [UInt8] {
            [0, 0, 0, UInt8(Generation.formatVersion) + difference]
        }
        try cache.tamper { try $0.put($1.info, format, version(1)) }
        cache.close()
        for _ in 0..<2 { #expect(code { _ = try scratch.open() } == .newerFormat) }
        // With the format of this library again, nothing is lost.
        let guardFile = try GuardFile(path: scratch.directory + "/guard", create: false)
        let name = try String(contentsOfFile: scratch.directory + "/current", encoding: .utf8)
            .dropLast()
        let environment = try Environment.open(
            directory: scratch.directory + "/" + name, guardedBy: guardFile,
            keyspaces: Keyspaces.names,
            options: .init(mapSize: 50 << 20))
        try environment.write { try $0.put(environment.keyspace("info"), format, version(0)) }
        environment.close()
        cache = try scratch.open()
        #expect(cache.read(Person.self, "p:1")?.name == "Anna")
        cache.close()
    }

    @Test("Opening refuses budgets outside of 1 MiB to 64 GiB")
    func budgets() throws {
        let scratch = try Scratch()
        for budget in [-1, 0, 1, (1 << 20) - 1, (64 << 30) + 1, .max] {
            #expect(
                code { _ = try scratch.open(.forTests(budget: ByteCount(budget))) } == .badBudget)
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.directory))
    }

    @Test("Opening replaces a missing generation, and finds one again whose name was lost")
    func generationGone() throws {
        let scratch = try Scratch()
        for damage in ["remove", "garbage", "empty"] {
            var cache = try scratch.open()
            try cache.set(Person("p:1", "Anna")).wait()
            cache.close()
            let current = scratch.directory + "/current"
            let name = try String(contentsOfFile: current, encoding: .utf8).dropLast()
            switch damage {
            // The state after a process was killed while it removed everything.
            case "remove":
                try FileManager.default.removeItem(atPath: scratch.directory + "/" + name)
            case "garbage": try Data("../../etc\n".utf8).write(to: URL(fileURLWithPath: current))
            default: try Data().write(to: URL(fileURLWithPath: current))
            }
            cache = try scratch.open()
            let reason = cache.readOutcome(Person.self, "p:1").reason
            #expect(reason == (damage == "remove" ? .notFound : nil), "\(damage)")
            try cache.set(Person("p:1", "Anna")).wait()
            try expectClean(cache)
            cache.close()
            let generations = try FileManager.default.contentsOfDirectory(atPath: scratch.directory)
                .filter {
                    $0.hasPrefix("g-")
                }
            #expect(generations.count == 1)
        }
    }

    @Test("The cache never removes files that are not its own")
    func foreignFiles() throws {
        let scratch = try Scratch()
        let photo = scratch.directory + "/g-photos/photo.jpg"
        let file = scratch.directory + "/g-1f/notes.txt"
        for path in [photo, file] {
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        }
        let cache = try scratch.open()
        try cache.removeAll().wait()
        cache.close()
        #expect(FileManager.default.fileExists(atPath: photo))
        #expect(FileManager.default.fileExists(atPath: file))
    }

    @Test(
        "Opening to write replaces a damaged generation, and opening to read leaves it alone",
        arguments: [0, 100, 5_000])
    func damagedFile(size: Int) throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        try cache.set(Person("p:1", "Anna")).wait()
        let data = scratch.directory + "/" + (try cache.generation.name) + "/data.mdb"
        cache.close()
        try Data(repeating: 0, count: size).write(to: URL(fileURLWithPath: data))
        #expect(code { _ = try NormalizedCache.existing(directory: scratch.directory) } == .damaged)
        #expect(FileManager.default.fileExists(atPath: data))
        cache = try scratch.open()
        #expect(cache.readOutcome(Person.self, "p:1").reason == .notFound)
        try cache.set(Person("p:1", "Anna")).wait()
        try expectClean(cache)
        cache.close()
    }
}
