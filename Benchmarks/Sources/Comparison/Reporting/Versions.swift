import CLMDBRaw
import CZstdRaw
import Foundation
import GRDBSQLite

/// The versions of the measured libraries, as they report them; nil if unknown.
struct Versions: Codable, Sendable {
    var swift: String?
    var lmdb: String?
    var zstd: String?
    var rocksDB: String?
    var sqlite: String?
    var grdb: String?

    /// Finds the versions. `scratch` is an empty directory, into which RocksDB writes.
    init(scratch: String?) {
        swift = Self.swiftVersion()
        lmdb = Self.lmdbVersion()
        zstd = String(cString: ZSTD_versionString())
        rocksDB = scratch.flatMap(Self.rocksDBVersion(writingTo:))
        sqlite = String(cString: sqlite3_libversion())
        grdb = Self.grdbVersion()
    }

    /// The known versions.
    var all: [(name: String, version: String)] {
        let named = [
            ("Swift", swift), ("LMDB", lmdb), ("zstd", zstd), ("RocksDB", rocksDB),
            ("SQLite", sqlite), ("GRDB", grdb),
        ]
        return named.compactMap { name, version in version.map { (name, $0) } }
    }

    /// Swift has no call for it. The compiler leaves its version in the program's information for
    /// debuggers.
    private static func swiftVersion() -> String? {
        guard let path = Bundle.main.executablePath,
            let program = try? Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        else { return nil }
        return swiftVersion(in: program)
    }

    /// Returns the first version in a program's bytes that has a number: the text of this file has
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

    /// The C interface has no call. Each database has a file with the version that wrote it.
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

    /// The library has no call either. Returns the version that was resolved, if the package still
    /// stands where it was built.
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
