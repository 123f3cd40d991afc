import EspalierCompression
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
        disk = Disk(mount: Self.mount(of: folder), freeBytes: space?.intValue, mode: mode?.intValue)
    }

    private static func mount(of folder: String) -> MountTable.Mount? {
        guard let file = FileHandle(forReadingAtPath: "/proc/self/mountinfo"),
            let data = try? file.readToEnd()
        else {
            return nil
        }
        return MountTable(parsing: String(decoding: data, as: UTF8.self)).mount(of: folder)
    }
}

/// The file systems of a Linux system, as `/proc/self/mountinfo` lists them (proc(5)).
struct MountTable: Sendable {
    struct Mount: Sendable, Equatable {
        let path: String
        let type: String
        let isReadOnly: Bool
    }

    let mounts: [Mount]

    /// Parses the table. Skips malformed lines.
    init(parsing text: String) {
        mounts = text.split(separator: "\n").compactMap { line in
            // 36 35 98:0 /root /path rw,noatime [optional fields] - ext4 /dev/sda1 rw
            let fields = line.split(separator: " ")
            guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 3 else {
                return nil
            }
            let options = (fields[5] + "," + fields[dash + 3]).split(separator: ",")
            return Mount(
                path: Self.unescaped(fields[4]), type: String(fields[dash + 1]),
                isReadOnly: options.contains("ro"))
        }
    }

    /// Returns the file system of `path`, which must be absolute and without symbolic links. Of
    /// file systems mounted at the same place the last one counts.
    func mount(of path: String) -> Mount? {
        var found: Mount?
        for mount in mounts where Self.contains(mount.path, path) {
            if mount.path.utf8.count >= found?.path.utf8.count ?? 0 { found = mount }
        }
        return found
    }

    private static func contains(_ folder: String, _ path: String) -> Bool {
        folder == "/" || path == folder || path.hasPrefix(folder + "/")
    }

    /// Decodes spaces and other escaped bytes: a backslash and three octal digits.
    private static func unescaped(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = field.utf8
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            guard byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(code)
            rest = rest.dropFirst(3)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The versions of the tool and of its libraries.
enum Version {
    static let number = "0.1.0"

    static var current: String {
        "espalier \(number), LMDB \(LMDBLibrary.version), zstd \(ZstdLibrary.version)"
    }
}
