import Foundation

/// The files, their sizes, and the order in which they were used.
///
/// Uses are a queue, in which earlier uses of a file stay until they come to the front: a use costs
/// an entry, and the search for the least recently used file costs the entries that it skips.
struct FileTable {
    private struct Entry {
        var size: Int
        var lastUse: Int
    }

    private var files: [String: Entry] = [:]
    private var uses: [(name: String, use: Int)] = []
    private var front = 0
    private var clock = 0
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
        for file in found.sorted(by: { $0.date < $1.date }) { put(file.name, size: file.size) }
    }

    mutating func put(_ name: String, size: Int) {
        byteCount += size - (files[name]?.size ?? 0)
        files[name] = Entry(size: size, lastUse: 0)
        use(name)
    }

    /// Does nothing if the file was deleted meanwhile.
    mutating func use(_ name: String) {
        guard files[name] != nil else { return }
        clock += 1
        files[name]?.lastUse = clock
        uses.append((name, clock))
        if uses.count - front > 2 * files.count + 64 { forgetEarlierUses() }
    }

    private mutating func forgetEarlierUses() {
        uses = uses[front...].filter { files[$0.name]?.lastUse == $0.use }
        front = 0
    }

    /// Removes and returns the least recently used files until the rest is within the limit. The
    /// caller deletes them.
    mutating func trim(to limit: Int) -> [String] {
        var surplus: [String] = []
        while byteCount > limit, front < uses.count {
            let (name, use) = uses[front]
            front += 1
            guard let entry = files[name], entry.lastUse == use else { continue }
            files[name] = nil
            byteCount -= entry.size
            surplus.append(name)
        }
        if front > files.count + 64 { forgetEarlierUses() }
        return surplus
    }
}
