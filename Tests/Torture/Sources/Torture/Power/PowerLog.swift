import Foundation

/// Everything that a worker has done to the files of its cache, in order, and what it was told.
///
/// The file is a sequence of entries, as `append` in faults.c writes them:
///
/// ```
/// type, flags (4 bytes each), a, b, c (8 bytes each),
/// length of path, length of data (4 bytes each),
/// contents of the guard file (64 bytes), path, data
/// ```
struct PowerLog {
    enum Change {
        /// The file was opened to be created.
        case open(String)
        case write(String, offset: Int, Data, isSynchronous: Bool)
        /// `fsync` or `fdatasync`.
        case sync(String)
        case resize(String, Int)
        case rename(String, to: String)
        case remove(String)
        case folder(String)
        case submitted(tree: Int, version: Int)
        case acknowledged(tree: Int, version: Int)
        /// Everything acknowledged so far must outlive a loss of power.
        case flushed
    }

    struct Entry {
        let change: Change
        let guardFile: Data
    }

    let entries: [Entry]

    init(_ path: String) throws {
        guard let bytes = Files.read(path), !bytes.isEmpty else {
            throw Mistake("\(path) is empty")
        }
        var entries: [Entry] = []
        var start = 0
        func number(_ offset: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(bytes[start + offset + $1]) << (8 * $1) }
        }
        while start + 104 <= bytes.count {
            let (type, flags) = (number(0, 4), number(4, 4))
            let (a, b, c) = (number(8, 8), number(16, 8), number(24, 8))
            let (pathLength, dataLength) = (number(32, 4), number(36, 4))
            let guardFile = bytes[start + 40..<start + 104]
            let middle = start + 104 + pathLength
            let name = String(decoding: bytes[start + 104..<middle], as: UTF8.self)
            let data = bytes[middle..<middle + dataLength]
            start = middle + dataLength
            let change: Change? =
                switch type {
                case 1: .open(name)
                case 2: .write(name, offset: a, Data(data), isSynchronous: flags != 0)
                case 3: .sync(name)
                case 4: .resize(name, a)
                case 5: .rename(name, to: String(decoding: data, as: UTF8.self))
                case 6: .remove(name)
                case 7: .folder(name)
                case 8 where a == 1: .submitted(tree: b, version: c)
                case 8 where a == 2: .acknowledged(tree: b, version: c)
                case 8: .flushed
                default: nil
                }
            guard let change else { throw Mistake("an entry of type \(type)") }
            entries.append(Entry(change: change, guardFile: Data(guardFile)))
        }
        self.entries = entries
    }
}
