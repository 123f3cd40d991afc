/// The two meta pages at the head of `data.mdb`, judged before LMDB sees them.
///
/// LMDB trusts them: a page size of 0 divides by zero, a root outside the file kills the process.
/// This finds a damaged head and a file cut off before its roots; `StructureCheck` walks the trees.
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

    let pageSize: UInt64
    let mapSize: UInt64
    let freeList: TreeRecord
    let directory: TreeRecord
    let lastPage: UInt64
    let transaction: UInt64

    /// The meta that counts, or `nil` of an empty file. Throws when it is not what LMDB needs.
    static func latest(_ file: borrowing OpenFile) throws(LMDBError) -> DataFileHead? {
        // A process that has the file open may be writing a meta page just now.
        for _ in 0..<8 {
            do { return try readLatest(file) } catch { continue }
        }
        return try readLatest(file)
    }

    private static func readLatest(_ file: borrowing OpenFile) throws(LMDBError) -> DataFileHead? {
        let size = try file.status(.prepareFiles).size
        guard size > 0 else { return nil }
        let first = try DataFileHead(file, at: 0)
        guard first.pageSize.nonzeroBitCount == 1, (256...65_536).contains(first.pageSize) else {
            throw LMDBError(.invalidFile, .prepareFiles)
        }
        let second = try DataFileHead(file, at: Int(first.pageSize))
        let isSecond = second.transaction > first.transaction
        let latest = isSecond ? second : first
        // Readers take the meta page that the transaction's last bit names.
        guard second.pageSize == first.pageSize, latest.transaction % 2 == (isSecond ? 1 : 0),
            latest.isSound(fileSize: UInt64(size))
        else { throw LMDBError(.corrupted, .prepareFiles) }
        return latest
    }

    private init(_ file: borrowing OpenFile, at offset: Int) throws(LMDBError) {
        var bytes = PageBytes(count: Self.length)
        guard try file.fill(&bytes.bytes, at: offset, .prepareFiles) else {
            throw LMDBError(.invalidFile, .prepareFiles)
        }
        guard try bytes.load(10, as: UInt16.self) & Self.metaFlag != 0,
            try bytes.load(16, as: UInt32.self) == Self.magic
        else { throw LMDBError(.invalidFile, .prepareFiles) }
        guard try bytes.load(20, as: UInt32.self) == Self.version else {
            throw LMDBError(.versionMismatch, .prepareFiles)
        }
        pageSize = UInt64(try bytes.load(40, as: UInt32.self))
        mapSize = try bytes.load(32, as: UInt64.self)
        freeList = try TreeRecord(bytes, at: 40)
        directory = try TreeRecord(bytes, at: 88)
        lastPage = try bytes.load(136, as: UInt64.self)
        transaction = try bytes.load(144, as: UInt64.self)
    }

    private func isSound(fileSize: UInt64) -> Bool {
        // Pages at the end may never have been written, so a file shorter than its last page is not
        // a damaged one.
        let pages = fileSize / pageSize
        let areRootsSound = [freeList, directory].allSatisfy { tree in
            tree.isEmpty
                ? tree.depth == 0
                : tree.root >= 2 && tree.root < pages && tree.root <= lastPage && tree.depth >= 1
                    && tree.depth <= TreeRecord.deepest
        }
        return areRootsSound && lastPage >= 1 && lastPage <= mapSize / pageSize
            && transaction < UInt64.max / 2
    }
}
