import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Who may access a cache")
struct PermissionTests {
    private func mode(_ path: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    private func set(_ mode: Int, of path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// The names of the files of a cache with one generation, the directory itself first.
    private func names(in scratch: Scratch) throws -> [String] {
        ["."] + (try FileManager.default.subpathsOfDirectory(atPath: scratch.directory)).sorted()
    }

    @Test("Opening takes the access to a cache away from others, and tells of it")
    func repaired() async throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let names = try names(in: scratch)
        #expect(names.count == 6)
        for name in names {
            let path = scratch.directory + "/" + name
            try set(mode(path) == 0o700 ? 0o777 : 0o666, of: path)
        }
        let cache = try scratch.open()
        for name in names {
            let isDirectory = name == "." || name.hasPrefix("g-") && !name.contains("/")
            #expect(try mode(scratch.directory + "/" + name) == (isDirectory ? 0o700 : 0o600))
        }
        let events = cache.events()
        try cache.set(Person("p:1", "Anna")).wait()
        cache.close()
        var restricted: [String] = []
        for await case .accessRestricted(let name) in events { restricted.append(name) }
        // `current` is replaced by another process at any time, so nobody is told about it.
        #expect(restricted.sorted() == names.filter { $0 != "current" }.sorted())
    }

    @Test("Opening a cache that only its owner can access changes and tells nothing")
    func untouched() async throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let cache = try scratch.open()
        let events = cache.events()
        cache.close()
        for await event in events { Issue.record("\(event)") }
    }

    @Test(
        "Opening refuses a file of another user", .enabled(if: geteuid() == 0),
        arguments: ["guard", "current", "data.mdb", "lock.mdb"])
    func foreignFile(name: String) throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let path = try names(in: scratch).first { $0.hasSuffix(name) } ?? ""
        try FileManager.default.setAttributes(
            [.ownerAccountID: 65_534], ofItemAtPath: scratch.directory + "/" + path)
        #expect(code { _ = try scratch.open() } == .badDirectory)
    }

    // MARK: Reading only

    private var readOnly: Configuration { Configuration(durability: .noSync, isReadOnly: true) }

    @Test("A cache that is only read reads, refuses writes, and changes nothing in its directory")
    func reading() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        try cache.set(Person("p:1", "Anna")).wait()
        cache.setCollection([Person("p:2", "Bert")], forKey: "list")
        cache.close()
        let before = try contents(of: scratch)
        cache = try scratch.open(readOnly)
        #expect(cache.read(Person.self, "p:1")?.name == "Anna")
        #expect(cache.collection(of: Person.self, forKey: "list")?.count == 1)
        #expect(code(cache.set(Person("p:3", "Cleo"))) == .notWritable)
        #expect(code(cache.delete("p:1")) == .notWritable)
        #expect(code(cache.removeAll()) == .notWritable)
        #expect(try cache.statistics().nodes == 2)
        try expectClean(cache)
        cache.close()
        #expect(try contents(of: scratch) == before)
        #expect(
            code {
                _ = try NormalizedCache(
                    directory: scratch.root + "/none", configuration: readOnly)
            } == .noCache)
        #expect(!FileManager.default.fileExists(atPath: scratch.root + "/none"))
    }

    /// Returns the bytes of each file, except those of the lock file, in which readers enter
    /// themselves.
    private func contents(of scratch: Scratch) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try names(in: scratch) where !name.hasSuffix("lock.mdb") {
            let path = scratch.directory + "/" + name
            contents[name] = FileManager.default.contents(atPath: path) ?? Data()
        }
        return contents
    }

    @Test("A directory that can't be written, with or without its lock file, can be read")
    func unwritable() async {
        await #expect(processExitsWith: .success) { try Self.readUnwritable() }
    }

    /// Runs in a process of its own, which gives up its privileges: the superuser may write every
    /// file.
    private static func readUnwritable() throws {
        let scratch = try Scratch()
        let files = FileManager.default
        if geteuid() == 0 {
            try files.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: scratch.root)
            guard setuid(65_534) == 0 else { exit(3) }
        }
        let cache = try scratch.open()
        try cache.set(Person("p:1", "Anna")).wait()
        cache.close()
        let readOnly = Configuration(durability: .noSync, isReadOnly: true)
        for removesLock in [false, true] {
            let paths = try files.subpathsOfDirectory(atPath: scratch.directory)
            if removesLock, let lock = paths.first(where: { $0.hasSuffix("lock.mdb") }) {
                try files.removeItem(atPath: scratch.directory + "/" + lock)
            }
            for path in try files.subpathsOfDirectory(atPath: scratch.directory) + ["."] {
                let isFolder = path == "." || path.hasPrefix("g-") && !path.contains("/")
                try files.setAttributes(
                    [.posixPermissions: isFolder ? 0o500 : 0o400],
                    ofItemAtPath: scratch.directory + "/" + path)
            }
            guard code({ _ = try scratch.open() }) == .notWritable else { exit(4) }
            let cache = try scratch.open(readOnly)
            guard cache.read(Person.self, "p:1")?.name == "Anna" else { exit(5) }
            guard code(cache.set(Person("p:2", "Bert"))) == .notWritable else { exit(6) }
            guard try cache.verify().isClean else { exit(7) }
            cache.close()
            for path in ["."] + (try files.subpathsOfDirectory(atPath: scratch.directory)) {
                let isFolder = path == "." || path.hasPrefix("g-") && !path.contains("/")
                try files.setAttributes(
                    [.posixPermissions: isFolder ? 0o700 : 0o600],
                    ofItemAtPath: scratch.directory + "/" + path)
            }
        }
    }

    @Test("Reading only refuses what others can write")
    func writableByOthers() throws {
        let scratch = try Scratch()
        try scratch.open().close()
        try set(0o777, of: scratch.directory)
        #expect(code { _ = try scratch.open(readOnly) } == .badDirectory)
        #expect(try mode(scratch.directory) == 0o777)
        try scratch.open().close()
        try scratch.open(readOnly).close()
    }

    @Test(
        "The superuser may look at another user's cache, and leaves it as it is",
        .enabled(if: geteuid() == 0))
    func superuser() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        try cache.set(Person("p:1", "Anna")).wait()
        cache.close()
        for name in try names(in: scratch) {
            try FileManager.default.setAttributes(
                [.ownerAccountID: 65_534], ofItemAtPath: scratch.directory + "/" + name)
        }
        #expect(code { _ = try scratch.open() } == .badDirectory)
        let reader = try scratch.open(readOnly)
        #expect(reader.read(Person.self, "p:1")?.name == "Anna")
        reader.close()
        for name in try names(in: scratch) {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: scratch.directory + "/" + name)
            #expect((attributes[.ownerAccountID] as? NSNumber)?.intValue == 65_534)
        }
    }
}
