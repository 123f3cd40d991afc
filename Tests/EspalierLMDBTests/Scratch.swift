import EspalierLMDB
import Foundation

/// A cache directory of one test, removed with it.
final class Scratch: Sendable {
    let root: String
    let guardFile: GuardFile

    init() throws {
        root = NSTemporaryDirectory() + "/espalier-lmdb-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: root + "/g", withIntermediateDirectories: true)
        guardFile = try GuardFile(path: root + "/guard", create: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: root)
    }

    var directory: String { root + "/g" }
    var data: String { directory + "/data.mdb" }
    var lock: String { directory + "/lock.mdb" }

    func open(
        mapSize: Int = 4 << 20, readers: Int = 126, keyspaces: [String] = ["nodes", "index"],
        durability: Environment.Durability = .noSync, readOnly: Bool = false, at path: String? = nil
    ) throws(LMDBError) -> Environment {
        let options = Environment.Options(
            mapSize: mapSize, maximumReaders: readers, durability: durability, isReadOnly: readOnly)
        return try Environment.open(
            directory: path ?? directory, guardedBy: guardFile, keyspaces: keyspaces,
            options: options)
    }
}

extension Environment {
    var nodes: Keyspace { keyspace("nodes") }
    var index: Keyspace { keyspace("index") }
}

/// The code of the error `body` throws, `nil` when it throws none.
func code(_ body: () throws -> Void) -> LMDBError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? LMDBError)?.code
    }
}

func copy(_ bytes: RawSpan) -> [UInt8] {
    unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
}
