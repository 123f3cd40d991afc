import Foundation
import Synchronization

@testable import EspalierLMDB

/// A directory with a guard file for one test. It is removed with the object.
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

extension Scratch {
    func image() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: data)) }

    /// Replaces the data file, and removes its mark: within a tick of the clock the new file has
    /// the times of the old one.
    func replace(by image: Data) throws {
        try image.write(to: URL(fileURLWithPath: data))
        guardFile.setMark(IntactMark.none)
    }

    /// Replaces the data file by `image` and marks that as intact: a drive returned other bytes
    /// than were written.
    func replaceUnnoticed(by image: Data) throws {
        try image.write(to: URL(fileURLWithPath: data))
        let folder = try OpenFile(directory: directory, .open)
        guard let status = try folder.status(of: EnvironmentFiles.data, .open) else { return }
        guardFile.setMark(IntactMark(status).durable)
    }

    /// Checks the data file, or `image`, without opening it.
    func check(_ image: Data? = nil) throws(LMDBError) {
        let folder = try OpenFile(directory: directory, .open)
        if let image { try? image.write(to: URL(fileURLWithPath: directory + "/image")) }
        let name = image == nil ? EnvironmentFiles.data : "image"
        let file = try OpenFile(name, in: folder.descriptor, flags: 0, .open)
        guard let head = try DataFileHead.latest(file) else { return }
        try StructureCheck.check(file, head)
    }

    /// Whether the next open needs no check.
    var isMarked: Bool {
        get throws(LMDBError) {
            let folder = try OpenFile(directory: directory, .open)
            guard let status = try folder.status(of: EnvironmentFiles.data, .open) else {
                return false
            }
            return IntactMark(status).matches(guardFile.mark)
        }
    }
}

extension Environment {
    var nodes: Keyspace { keyspace("nodes") }
    var index: Keyspace { keyspace("index") }
}

/// Returns the code of the error that `body` throws, or `nil` if it throws none.
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

/// Prevents core files of exit tests, whose process is meant to die.
func disableCoreFiles() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    #if os(Linux)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    #else
    _ = unsafe setrlimit(RLIMIT_CORE, &none)
    #endif
}

/// A count that several threads increase.
final class Counter: Sendable {
    private let value = Atomic<Int>(0)
    var count: Int { value.load(ordering: .sequentiallyConsistent) }
    func add() { value.add(1, ordering: .sequentiallyConsistent) }
}
