import Foundation

/// What is mounted where, as Linux tells in `/proc/self/mountinfo`.
struct MountTable {
    private var mounts: [(path: String, type: String)] = []

    /// Of `22 27 0:21 / /proc rw,relatime - proc proc rw` the fifth field is the path, and the
    /// first after the dash the type. Other lines are passed over.
    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 5, let dash = fields.dropFirst(6).firstIndex(of: "-"),
                dash + 1 < fields.count
            else {
                continue
            }
            mounts.append((Self.unescaped(String(fields[4])), String(fields[dash + 1])))
        }
    }

    static func ofThisSystem() -> MountTable? {
        (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)).map(MountTable.init)
    }

    /// Of a directory that is there.
    func fileSystem(of directory: String) -> String? {
        guard let resolved = realpath(directory, nil) else { return nil }
        defer { free(resolved) }
        return fileSystem(ofResolved: String(cString: resolved))
    }

    /// The deepest mount that the path is below; of several at one place the last, which hides the
    /// others.
    func fileSystem(ofResolved path: String) -> String? {
        var found: (path: String, type: String)?
        for mount in mounts
        where path == mount.path || path.hasPrefix(mount.path == "/" ? "/" : mount.path + "/") {
            if mount.path.count >= found?.path.count ?? 0 { found = mount }
        }
        return found?.type
    }

    /// Blanks and backslashes are octal numbers there.
    private static func unescaped(_ path: String) -> String {
        [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")].reduce(path) {
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
    }
}
