import EspalierCompression
import EspalierFixtures
import EspalierLMDB
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What a cache stands on: libraries, system, disk.
struct Surroundings: Sendable {
    var tool = Version.number
    var lmdb = LMDBLibrary.version
    var zstd = ZstdLibrary.version
    var system = ProcessInfo.processInfo.operatingSystemVersionString
    var machinePage = Int(sysconf(Int32(_SC_PAGESIZE)))
    /// Of the cache's directory; nil without one, and where it can't be told.
    var disk: Disk?

    struct Disk: Sendable {
        /// Nil where the system does not tell.
        var mount: MountTable.Mount?
        var freeBytes: Int?
        /// The directory's permission bits.
        var mode: Int?
    }

    init() {}

    /// With the disk that the directory at `path` is on.
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
