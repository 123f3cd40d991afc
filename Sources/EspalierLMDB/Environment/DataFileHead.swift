/// The two meta pages at the head of `data.mdb`, judged before LMDB sees them.
///
/// LMDB trusts them: a page size of 0 divides by zero, a root outside the file kills the process. This finds a damaged
/// head and a file cut off before its roots; it does not walk the trees.
///
/// ```
///   page 0, page 1      page header 16, of it: flags at 10
///   16 magic 4   20 version 4   24 address 8   32 map size 8
///   40 free list 48   88 directory of keyspaces 48    each: 0 page size 4 ... 6 depth 2 ... 40 root 8
///   136 last page 8   144 transaction 8
/// ```
struct DataFileHead {
    private static let length = 152
    private static let magic: UInt32 = 0xBEEF_C0DE
    private static let version: UInt32 = 1
    private static let metaFlag: UInt16 = 0x08
    private static let deepest: UInt16 = 32
    private static let noPage = UInt64.max

    let pageSize: UInt64
    let mapSize: UInt64
    let depths: [UInt16]
    let roots: [UInt64]
    let lastPage: UInt64
    let transaction: UInt64

    /// Throws when a file that is not empty does not begin as LMDB needs it to.
    static func check(_ file: borrowing OpenFile) throws(LMDBError) {
        // A process that has the file open may be writing a meta page just now.
        for _ in 0..<8 {
            do { return try checkOnce(file) } catch { continue }
        }
        try checkOnce(file)
    }

    private static func checkOnce(_ file: borrowing OpenFile) throws(LMDBError) {
        let size = try file.status(.prepareFiles).size
        guard size > 0 else { return }
        let first = try DataFileHead(file, at: 0)
        guard first.pageSize.nonzeroBitCount == 1, (256...65_536).contains(first.pageSize) else {
            throw LMDBError(.invalidFile, .prepareFiles)
        }
        let second = try DataFileHead(file, at: Int(first.pageSize))
        let latest = second.transaction > first.transaction ? second : first
        guard second.pageSize == first.pageSize, latest.isSound(fileSize: UInt64(size)) else {
            throw LMDBError(.corrupted, .prepareFiles)
        }
    }

    private init(_ file: borrowing OpenFile, at offset: Int) throws(LMDBError) {
        let bytes = try file.read(Self.length, at: offset, .prepareFiles)
        guard bytes.count == Self.length else { throw LMDBError(.invalidFile, .prepareFiles) }
        func load<T: BitwiseCopyable>(_ offset: Int, _ type: T.Type) -> T {
            unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: type) }
        }
        guard load(10, UInt16.self) & Self.metaFlag != 0, load(16, UInt32.self) == Self.magic else {
            throw LMDBError(.invalidFile, .prepareFiles)
        }
        guard load(20, UInt32.self) == Self.version else { throw LMDBError(.versionMismatch, .prepareFiles) }
        pageSize = UInt64(load(40, UInt32.self))
        mapSize = load(32, UInt64.self)
        depths = [load(46, UInt16.self), load(94, UInt16.self)]
        roots = [load(80, UInt64.self), load(128, UInt64.self)]
        lastPage = load(136, UInt64.self)
        transaction = load(144, UInt64.self)
    }

    private func isSound(fileSize: UInt64) -> Bool {
        // Pages at the end may never have been written, so a file shorter than its last page is not a damaged one.
        let pages = fileSize / pageSize
        let areRootsSound = zip(roots, depths).allSatisfy { root, depth in
            root == Self.noPage
                ? depth == 0 : root >= 2 && root < pages && root <= lastPage && depth >= 1 && depth <= Self.deepest
        }
        return areRootsSound && lastPage >= 1 && lastPage <= mapSize / pageSize && transaction < UInt64.max / 2
    }
}
