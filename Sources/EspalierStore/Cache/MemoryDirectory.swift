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
    private let container: String
    private let name: String
    private let lock: LockedFile

    /// The places for the directory, by preference. Another user may have taken the name in the
    /// first ones.
    private static var containers: [String] {
        let name = "espalier-\(geteuid())"
        let temporary = NSTemporaryDirectory() + "/"
        let shared =
            FileManager.default.isWritableFile(atPath: "/dev/shm") ? ["/dev/shm/" + name] : []
        return shared + [temporary + name, lastContainer]
    }

    /// One of this process alone.
    static let lastContainer =
        NSTemporaryDirectory() + "/espalier-\(geteuid())-" + UUID().uuidString

    /// - Parameter containers: The places to try, in this order.
    init(in containers: [String] = MemoryDirectory.containers) throws(CacheError) {
        container = try Self.prepare(containers)
        Self.removeAbandoned(in: container)
        name = UUID().uuidString
        var taken: LockedFile?
        // Another process may take a file that is not locked yet for an abandoned one, and remove
        // it.
        for _ in 0..<8 where taken == nil {
            taken = try? LockedFile(name + ".lock", in: container, creates: true)
        }
        guard let lock = taken else {
            throw CacheError(
                .notWritable,
                "The directory for caches in memory can't be written: \(container).")
        }
        self.lock = lock
        path = container + "/" + name
    }

    /// Returns the first directory that this user can use. Makes it if it is missing.
    private static func prepare(_ containers: [String]) throws(CacheError) -> String {
        var failure: CacheError?
        for container in containers {
            if !FileManager.default.fileExists(atPath: container) {
                // Another process may make it at the same time.
                try? FileManager.default.createDirectory(
                    atPath: container, withIntermediateDirectories: false,
                    attributes: [.posixPermissions: 0o700])
            }
            do throws(CacheError) {
                // No other user may own it or write in it.
                _ = try CacheDirectory(container).prepare(create: false)
                return container
            } catch {
                failure = CacheError(
                    error.code == .noCache ? .notWritable : error.code,
                    "No directory for caches in memory: \(container): \(error.message)")
            }
        }
        throw failure ?? CacheError(.notWritable, "There is no directory for caches in memory.")
    }

    /// Removes the directory and what is in it, and with the last one the container that only this
    /// process uses.
    func remove() {
        Self.remove(name, in: container)
        if container == Self.lastContainer { CacheDirectory.removeIfEmpty(container) }
    }

    private static func remove(_ name: String, in container: String) {
        try? FileManager.default.removeItem(atPath: container + "/" + name)
        try? FileManager.default.removeItem(atPath: container + "/" + name + ".lock")
    }

    /// Removes the directories of processes that have ended.
    private static func removeAbandoned(in container: String) {
        let suffix = ".lock"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: container)) ?? []
        for file in files where file.hasSuffix(suffix) {
            guard let lock = try? LockedFile(file, in: container, creates: false) else { continue }
            withExtendedLifetime(lock) {
                remove(String(file.dropLast(suffix.count)), in: container)
            }
        }
    }
}
