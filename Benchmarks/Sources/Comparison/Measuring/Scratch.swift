import Foundation

/// A directory for one measurement, which is removed with this object.
final class Scratch {
    let path: String

    init(in parent: String) throws {
        path = parent + "/espalier-compare-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

enum DirectorySize {
    /// Returns the bytes of the blocks that the files below a directory take.
    static func allocated(_ directory: String) throws -> Int {
        try files(directory).reduce(0) { sum, path in
            var status = stat()
            guard lstat(path, &status) == 0 else { return sum }
            return sum + Int(status.st_blocks) * 512
        }
    }

    static func files(_ directory: String) throws -> [String] {
        guard let found = FileManager.default.enumerator(atPath: directory) else { return [] }
        return found.compactMap { $0 as? String }.map { directory + "/" + $0 }.filter { path in
            var status = stat()
            return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }
}
