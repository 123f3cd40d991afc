import Foundation
import Glibc

/// Small operations on files.
enum Files {
    static func read(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

    /// Returns the first 4 KiB of a file whose size is reported as 0, such as those below `/proc`.
    static func readStream(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return Array(buffer.prefix(max(0, count)))
    }

    static func write(_ bytes: Data, to path: String) throws {
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func copy(_ path: String, to other: String) throws {
        remove(other)
        try FileManager.default.copyItem(atPath: path, toPath: other)
    }

    /// Returns the free bytes of the file system at a path, or 0 if there is none.
    static func freeBytes(of path: String) -> Int {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return 0 }
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    static func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    static func lastLine(of path: String) -> String {
        let text = String(decoding: read(path) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").last.map(String.init) ?? ""
    }

    /// Returns the bytes of all files below a directory. Files that are deleted meanwhile count as
    /// long as they can be seen.
    static func bytes(below directory: String) -> Int {
        guard let stream = opendir(directory) else { return 0 }
        defer { closedir(stream) }
        var sum = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            var status = stat()
            let path = "\(directory)/\(name)"
            guard lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                sum += bytes(below: path)
            } else {
                sum += Int(status.st_size)
            }
        }
        return sum
    }

    /// Returns the path of `data.mdb` of the live generation.
    static func dataFile(in cache: String) throws -> String {
        guard let current = read(cache + "/current") else {
            throw Mistake("\(cache) has no current")
        }
        let name = String(decoding: current, as: UTF8.self).split(separator: "\n").first ?? ""
        return "\(cache)/\(name)/data.mdb"
    }
}

/// Standard output, which another process reads while this one may be killed.
enum Console {
    static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}

/// The directory for the caches of one run. The directories of failed tries are kept.
final class Scratch {
    let root: String
    private var number = 0

    init(_ root: String) throws {
        self.root = root
        try Files.makeDirectory(root)
    }

    /// Returns a new path.
    func path(_ name: String) -> String {
        number += 1
        return "\(root)/\(name)-\(number)"
    }

    /// Returns a new, empty directory.
    func directory(_ name: String) throws -> String {
        let path = path(name)
        try Files.makeDirectory(path)
        return path
    }
}
