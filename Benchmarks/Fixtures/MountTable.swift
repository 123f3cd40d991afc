import Foundation

/// The file systems of a Linux system, as `/proc/self/mountinfo` lists them (proc(5)).
public struct MountTable: Sendable {
    public struct Mount: Sendable, Equatable {
        public let path: String
        public let type: String
        public let isReadOnly: Bool

        public init(path: String, type: String, isReadOnly: Bool) {
            self.path = path
            self.type = type
            self.isReadOnly = isReadOnly
        }
    }

    public let mounts: [Mount]

    /// Reads the text of a `mountinfo` file. Lines of another form are left out.
    public init(parsing text: String) {
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

    /// Returns the table of this system, or nil if the system has none.
    public static func ofThisSystem() -> MountTable? {
        guard let file = FileHandle(forReadingAtPath: "/proc/self/mountinfo"),
            let data = try? file.readToEnd()
        else { return nil }
        return MountTable(parsing: String(decoding: data, as: UTF8.self))
    }

    /// Returns the file system that contains `path`, which is absolute and without symbolic links.
    ///
    /// Of several file systems that are mounted at the same place, the last one hides the others.
    public func mount(of path: String) -> Mount? {
        var found: Mount?
        for mount in mounts where Self.contains(mount.path, path) {
            if mount.path.utf8.count >= found?.path.utf8.count ?? 0 { found = mount }
        }
        return found
    }

    private static func contains(_ folder: String, _ path: String) -> Bool {
        folder == "/" || path == folder || path.hasPrefix(folder + "/")
    }

    /// Decodes spaces and the like, which are a backslash and three octal digits.
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
