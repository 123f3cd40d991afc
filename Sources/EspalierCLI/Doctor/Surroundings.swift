#if CommandLine
import EspalierCompression
import EspalierFixtures
import EspalierLMDB
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The libraries, the system and the disk that a cache uses.
struct Surroundings: Sendable {
    var tool = Version.number
    var lmdb = LMDBLibrary.version
    var zstd = ZstdLibrary.version
    var system = ProcessInfo.processInfo.operatingSystemVersionString
    var machinePage = Int(sysconf(Int32(_SC_PAGESIZE)))
    /// The disk of the directory of the cache; nil without a cache.
    var disk: Disk?

    struct Disk: Sendable {
        /// Nil if the system does not report it.
        var mount: MountTable.Mount?
        var freeBytes: Int?
        /// The directory's permission bits.
        var mode: Int?
        /// Those from before the cache was opened, if that has changed them.
        var earlierMode: Int?
    }

    init() {}

    /// Describes the system with the disk of the directory at `path`.
    init(of path: String) {
        let folder = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let files = FileManager.default
        let space = try? files.attributesOfFileSystem(forPath: folder)[.systemFreeSize] as? NSNumber
        disk = Disk(
            mount: MountTable.ofThisSystem()?.mount(of: folder), freeBytes: space?.intValue,
            mode: Self.mode(of: folder))
    }

    private static func mode(of folder: String) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder)
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue
    }

    /// Reads the permission bits again: opening a cache takes those of other users away.
    mutating func noteOpened(at path: String) {
        let mode = Self.mode(of: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        guard let mode, let earlier = disk?.mode, mode != earlier else { return }
        disk?.mode = mode
        disk?.earlierMode = earlier
    }
}

/// The versions of the tool and of its libraries.
enum Version {
    static let number = "0.1.0"

    static var current: String {
        "espalier \(number), LMDB \(LMDBLibrary.version), zstd \(ZstdLibrary.version)"
    }
}
#endif
