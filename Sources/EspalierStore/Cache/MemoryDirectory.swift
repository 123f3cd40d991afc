import EspalierLMDB
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The directory of a cache in memory. It is removed with the cache, or after the process.
///
///     espalier-<user>/           in `/dev/shm`, or in the temporary directory
///         <name>.lock            locked as long as the cache is open
///         <name>/                the directory of the cache
///
/// A process that is killed leaves its directory, whose lock is then free. The next process that
/// makes a directory here removes it.
final class MemoryDirectory: Sendable {
    let path: String
    private let name: String
    private let lock: LockedFile

    private static let container: String = {
        let shared = "/dev/shm"
        let isShared = FileManager.default.isWritableFile(atPath: shared)
        let base = isShared ? shared : NSTemporaryDirectory()
        return base + "/espalier-\(geteuid())"
    }()

    init() throws(CacheError) {
        let files = FileManager.default
        if !files.fileExists(atPath: Self.container) {
            // Another process may make it at the same time.
            try? files.createDirectory(
                atPath: Self.container, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        }
        // No other user may own it or write in it.
        _ = try CacheDirectory(Self.container).prepare(create: false)
        Self.removeAbandoned()
        name = UUID().uuidString
        var taken: LockedFile?
        // Another process may take a file that is not locked yet for an abandoned one, and remove
        // it.
        for _ in 0..<8 where taken == nil {
            taken = try? LockedFile(name + ".lock", in: Self.container, creates: true)
        }
        guard let lock = taken else {
            throw CacheError(
                .notWritable,
                "The directory for caches in memory can't be written: \(Self.container).")
        }
        self.lock = lock
        path = Self.container + "/" + name
    }

    /// Removes the directory and what is in it.
    func remove() { Self.remove(name) }

    private static func remove(_ name: String) {
        try? FileManager.default.removeItem(atPath: container + "/" + name)
        try? FileManager.default.removeItem(atPath: container + "/" + name + ".lock")
    }

    /// Removes the directories of processes that have ended.
    private static func removeAbandoned() {
        let suffix = ".lock"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: container)) ?? []
        for file in files where file.hasSuffix(suffix) {
            guard let lock = try? LockedFile(file, in: container, creates: false) else { continue }
            withExtendedLifetime(lock) { remove(String(file.dropLast(suffix.count))) }
        }
    }
}
