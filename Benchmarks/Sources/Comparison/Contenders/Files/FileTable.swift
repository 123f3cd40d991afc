import Foundation

/// The files, the bytes that they take, and the order in which they were used.
struct FileTable {
    private var sizes: [String: Int] = [:]
    private var order = RecencyOrder()
    private(set) var byteCount = 0

    init() {}

    /// Lists the files of a directory by their modification dates, and deletes those that were
    /// never renamed.
    init(directory: String) throws {
        var found: [(name: String, size: Int, date: Date)] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            let path = directory + "/" + name
            if name.hasPrefix(".") {
                try FileManager.default.removeItem(atPath: path)
                continue
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let size = (attributes[.size] as? NSNumber)?.intValue ?? 0
            found.append((name, size, attributes[.modificationDate] as? Date ?? .distantPast))
        }
        for file in found.sorted(by: { $0.date < $1.date }) {
            put(file.name, size: Self.allocated(file.size))
        }
    }

    /// Returns the bytes that a file takes: whole blocks of 4 KiB, as most file systems allocate
    /// them. PINDiskCache counts what is allocated, too.
    static func allocated(_ size: Int) -> Int { (size + 4_095) & ~4_095 }

    var count: Int { sizes.count }

    mutating func put(_ name: String, size: Int) {
        byteCount += size - (sizes[name] ?? 0)
        sizes[name] = size
        order.use(name)
    }

    /// Does nothing if the file was deleted meanwhile.
    mutating func use(_ name: String) {
        if sizes[name] != nil { order.use(name) }
    }

    /// Removes and returns the least recently used files until the rest is within the limit. The
    /// caller deletes them.
    mutating func trim(to limit: Int) -> [String] {
        var surplus: [String] = []
        while byteCount > limit, let name = order.removeLeastRecentlyUsed() {
            byteCount -= sizes.removeValue(forKey: name) ?? 0
            surplus.append(name)
        }
        return surplus
    }
}
