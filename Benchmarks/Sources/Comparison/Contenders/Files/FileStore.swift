import Foundation
import Synchronization

/// Files by key. Each file is written beside the old one and renamed, so that a reader finds the
/// old one or the new one. Each read sets the file's modification date, by which the order of use
/// outlives the process.
final class FileStore: Sendable {
    private let directory: String
    private let isDurable: Bool
    private let limit: Int?
    /// The sizes and the order of use of all files, so that trimming does not list the directory.
    private let table: Mutex<FileTable>

    init(directory: String, durability: Durability, limit: Int?) throws {
        self.directory = directory
        isDurable = durability == .power
        self.limit = limit
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        table = Mutex(try FileTable(directory: directory))
    }

    /// The bytes that the files take on the disk.
    var byteCount: Int { table.withLock { $0.byteCount } }

    var count: Int { table.withLock { $0.count } }

    private func path(_ name: String) -> String { directory + "/" + name }

    func read(_ key: String) throws -> Data? {
        let name = Self.name(key)
        let file = open(path(name), O_RDONLY | O_CLOEXEC)
        if file < 0 {
            if errno == ENOENT { return nil }
            throw ComparisonError.system("open", errno)
        }
        defer { close(file) }
        let bytes = try Self.contents(file)
        futimens(file, nil)
        table.withLock { $0.use(name) }
        return bytes
    }

    private static func contents(_ file: Int32) throws -> Data {
        var status = stat()
        if fstat(file, &status) != 0 { throw ComparisonError.system("fstat", errno) }
        let count = Int(status.st_size)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 16)
        var filled = 0
        while filled < count {
            let more = pread(file, memory + filled, count - filled, off_t(filled))
            if more < 0 && errno == EINTR { continue }
            if more <= 0 {
                memory.deallocate()
                throw ComparisonError.system("read", errno)
            }
            filled += more
        }
        // Not earlier: Foundation copies few bytes, and the memory would be gone.
        return Data(
            bytesNoCopy: memory, count: count,
            deallocator: .custom { start, _ in start.deallocate() })
    }

    /// Writes each file by itself: nothing makes several files one write.
    ///
    /// Without a sync, the operating system has a file when it is renamed. With a sync, each file
    /// is on the disk before it is renamed, and at last the directory.
    func write(_ files: [(key: String, bytes: Data)]) throws {
        let named = files.map { file in (name: Self.name(file.key), bytes: file.bytes) }
        for file in named { try writeBeside(file.name, file.bytes) }
        for file in named {
            if rename(path(Self.besides(file.name)), path(file.name)) != 0 {
                throw ComparisonError.system("rename", errno)
            }
        }
        if isDurable { try syncDirectory() }
        let surplus = table.withLock { table in
            for file in named {
                table.put(file.name, size: FileTable.allocated(file.bytes.count))
            }
            return limit.map { table.trim(to: $0) } ?? []
        }
        for name in surplus { unlink(path(name)) }
    }

    private func writeBeside(_ name: String, _ bytes: Data) throws {
        let file = open(path(Self.besides(name)), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        if file < 0 { throw ComparisonError.system("open", errno) }
        defer { close(file) }
        try bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let more = pwrite(
                    file, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(done))
                if more < 0 && errno == EINTR { continue }
                if more <= 0 { throw ComparisonError.system("write", errno) }
                done += more
            }
        }
        if isDurable && fsync(file) != 0 { throw ComparisonError.system("fsync", errno) }
    }

    private func syncDirectory() throws {
        let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if file < 0 { throw ComparisonError.system("open", errno) }
        defer { close(file) }
        if fsync(file) != 0 { throw ComparisonError.system("fsync", errno) }
    }

    /// Keeps letters and digits, and writes other bytes as two hexadecimal digits: no key makes a
    /// path or a name that starts with a dot.
    static func name(_ key: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var name: [UInt8] = []
        name.reserveCapacity(key.utf8.count * 2)
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                name.append(byte)
            default: name += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: name, as: UTF8.self)
    }

    private static func besides(_ name: String) -> String { "." + name }
}
