import CLMDBRaw
import Foundation
import GRDBSQLite

/// The versions of what was measured, as the libraries themselves tell them. Nil where they don't.
struct Versions: Codable, Sendable {
    var swift: String?
    var lmdb: String?
    var zstd: String?
    var rocksDB: String?
    var sqlite: String?
    var grdb: String?

    /// `scratch` is an empty directory, which RocksDB writes into.
    init(scratch: String?) {
        swift = Self.swiftVersion()
        lmdb = Self.lmdbVersion()
        zstd = Self.zstdVersion()
        rocksDB = scratch.flatMap(Self.rocksDBVersion(writingTo:))
        sqlite = String(cString: sqlite3_libversion())
        grdb = Self.grdbVersion()
    }

    /// Those that are known.
    var all: [(name: String, version: String)] {
        let named = [
            ("Swift", swift), ("LMDB", lmdb), ("zstd", zstd), ("RocksDB", rocksDB),
            ("SQLite", sqlite), ("GRDB", grdb),
        ]
        return named.compactMap { name, version in version.map { (name, $0) } }
    }

    /// There is no call. The compiler leaves its version in what describes the program to
    /// debuggers.
    private static func swiftVersion() -> String? {
        guard let path = Bundle.main.executablePath,
            let program = try? Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        else { return nil }
        return swiftVersion(in: program)
    }

    /// The first of a program's mentions of a version that has a number: this file's own words have
    /// none.
    static func swiftVersion(in program: Data) -> String? {
        let mention = Data("Swift version ".utf8)
        var rest = program[...]
        while let found = rest.range(of: mention) {
            let number = rest[found.upperBound...].prefix(20).prefix {
                $0 == 0x2E || 0x30...0x39 ~= $0
            }
            if number.contains(0x2E) { return String(decoding: number, as: UTF8.self) }
            rest = rest[found.upperBound...]
        }
        return nil
    }

    private static func lmdbVersion() -> String {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        mdb_version(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }

    /// The library is Espalier's, and not imported here: its call is looked for in the process.
    private static func zstdVersion() -> String? {
        typealias Call = @convention(c) () -> UnsafePointer<CChar>?
        guard let process = dlopen(nil, RTLD_NOW) else { return nil }
        defer { dlclose(process) }
        guard let address = dlsym(process, "ZSTD_versionString") else { return nil }
        return unsafeBitCast(address, to: Call.self)().map { String(cString: $0) }
    }

    /// Its C interface has no call. Each database has a file that says which version wrote it.
    private static func rocksDBVersion(writingTo scratch: String) -> String? {
        guard (try? RocksStore(directory: scratch, durability: .process)) != nil,
            let files = try? FileManager.default.contentsOfDirectory(atPath: scratch),
            let options = files.first(where: { $0.hasPrefix("OPTIONS-") }),
            let text = try? String(contentsOfFile: scratch + "/" + options, encoding: .utf8)
        else { return nil }
        return rocksDBVersion(inOptions: text)
    }

    static func rocksDBVersion(inOptions text: String) -> String? {
        let key = "rocksdb_version="
        return text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .first { $0.hasPrefix(key) && $0.count > key.count }.map {
                String($0.dropFirst(key.count))
            }
    }

    /// It has no call either: the one that was resolved, where this package still stands where it
    /// was built.
    private static func grdbVersion() -> String? {
        var package = URL(filePath: #filePath)
        for _ in 0..<4 { package.deleteLastPathComponent() }
        return (try? Data(contentsOf: package.appending(path: "Package.resolved"))).flatMap {
            resolvedVersion(of: "grdb.swift", in: $0)
        }
    }

    static func resolvedVersion(of identity: String, in file: Data) -> String? {
        struct Resolved: Decodable {
            struct Pin: Decodable {
                struct State: Decodable { let version: String? }
                let identity: String
                let state: State
            }
            let pins: [Pin]
        }
        return (try? JSONDecoder().decode(Resolved.self, from: file))?.pins.first {
            $0.identity == identity
        }?.state
            .version
    }
}
