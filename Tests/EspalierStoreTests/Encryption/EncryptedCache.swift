#if Encryption
import EspalierEncryption
import EspalierLMDB
import EspalierTestSupport
import Foundation

@testable import EspalierStore

extension Configuration {
    /// A configuration for an encrypted cache whose dictionaries are trained on few records.
    static func encrypted(
        _ key: UInt8 = 1, previous: [UInt8] = [], _ policy: WrongKeyPolicy = .throw
    ) -> Configuration {
        Configuration(
            budget: .mebibytes(8), durability: .noSync,
            encryption: Encryption(
                key: .numbered(key), previousKeys: previous.map { .numbered($0) },
                whenKeyIsWrong: policy))
    }
}

extension Scratch {
    /// The contents of every file of the cache, by its path.
    func files() throws -> [String: Data] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: directory)
        return try paths.reduce(into: [:]) { files, path in
            let file = "\(directory)/\(path)"
            let type = try FileManager.default.attributesOfItem(atPath: file)[.type]
            guard type as? FileAttributeType == .typeRegular else { return }
            files[path] = try Data(contentsOf: URL(fileURLWithPath: file))
        }
    }

    /// Returns the files that contain any of the texts.
    func files(containing texts: [String]) throws -> [String: [String]] {
        try files().mapValues { data in
            texts.filter { data.firstRange(of: Data($0.utf8)) != nil }
        }.filter { !$0.value.isEmpty }
    }

    /// Calls `body` with the closed cache's environment as it stands in the file, without keys.
    func withStoredValues<R>(_ body: (Environment) throws -> R) throws -> R {
        let cache = CacheDirectory(directory)
        guard let name = cache.generations().first, cache.generations().count == 1 else {
            throw Missing()
        }
        let environment = try Environment.open(
            directory: cache.generationPath(name),
            guardedBy: try GuardFile(path: cache.guardPath, create: false),
            keyspaces: Keyspaces.names, options: .init(mapSize: 8 << 20, durability: .noSync))
        defer { environment.close() }
        return try body(environment)
    }
}

/// A value as it stands in the file.
struct StoredValue {
    let keyspace: String
    let key: [UInt8]
    let value: [UInt8]

    static func all(in environment: Environment) throws -> [StoredValue] {
        try environment.read { transaction in
            var values: [StoredValue] = []
            for name in Keyspaces.names {
                try transaction.forEach(in: environment.keyspace(name)) { key, value in
                    values.append(
                        StoredValue(keyspace: name, key: bytes(key), value: bytes(value)))
                    return true
                }
            }
            return values
        }
    }

    private static func bytes(_ span: RawSpan) -> [UInt8] {
        (0..<span.byteCount).map { unsafe span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
}
#endif
