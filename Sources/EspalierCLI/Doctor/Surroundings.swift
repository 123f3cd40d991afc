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
    }

    init() {}

    /// Describes the system with the disk of the directory at `path`.
    init(of path: String) {
        let folder = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let files = FileManager.default
        let space = try? files.attributesOfFileSystem(forPath: folder)[.systemFreeSize] as? NSNumber
        let mode = try? files.attributesOfItem(atPath: folder)[.posixPermissions] as? NSNumber
        disk = Disk(
            mount: MountTable.ofThisSystem()?.mount(of: folder), freeBytes: space?.intValue,
            mode: mode?.intValue)
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
