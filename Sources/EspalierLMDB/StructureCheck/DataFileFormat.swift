#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A buffer for bytes of a file.
struct PageBytes {
    var bytes: [UInt8]

    init(count: Int) {
        bytes = [UInt8](repeating: 0, count: count)
    }

    /// Reads as many bytes as the buffer has. Retries once after an I/O error. A second one counts
    /// as damage, because LMDB would end the process when it loads the page. Other errors of the
    /// system say nothing about the file, and are thrown.
    mutating func fill(from file: borrowing OpenFile, at offset: Int) throws(LMDBError) {
        let isComplete: Bool
        do {
            isComplete = try fillOnce(from: file, at: offset)
        } catch  where error.code == .ioFailure {
            do {
                isComplete = try fillOnce(from: file, at: offset)
            } catch  where error.code == .ioFailure {
                throw LMDBError.damage
            }
        }
        guard isComplete else { throw LMDBError.damage }
    }

    /// Reads `length` bytes from each of `offsets`, which ascend. Errors are those of `fill`.
    mutating func fillParts(of length: Int, from file: borrowing OpenFile, at offsets: [Int])
        throws(LMDBError)
    {
        if offsets.count > 1, file.fillParts(of: length, &bytes, at: offsets) { return }
        var part = PageBytes(count: length)
        for (index, offset) in offsets.enumerated() {
            try part.fill(from: file, at: offset)
            bytes.replaceSubrange(index * length..<(index + 1) * length, with: part.bytes)
        }
    }

    private mutating func fillOnce(from file: borrowing OpenFile, at offset: Int)
        throws(LMDBError) -> Bool
    {
        try file.fill(&bytes, at: offset, .prepareFiles)
    }

    /// Copies a part of `other` to the beginning.
    mutating func copy(_ range: Range<Int>, of other: RawSpan) throws(LMDBError) {
        guard other.contains(range), range.count <= bytes.count else { throw LMDBError.damage }
        for index in 0..<range.count {
            bytes[index] = unsafe other.unsafeLoad(
                fromUncheckedByteOffset: range.lowerBound + index, as: UInt8.self)
        }
    }
}

/// Bytes of a file that may be damaged.
extension RawSpan {
    /// Loads a number. Throws if it does not end before the end of the bytes.
    @inline(__always)
    func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type)
        throws(LMDBError) -> T
    {
        guard offset >= 0, offset <= byteCount - MemoryLayout<T>.size else {
            throw LMDBError.damage
        }
        return unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: type)
    }

    /// Compares two keys in LMDB's order: by bytes, a prefix first. Returns a number below 0, 0, or
    /// a number above 0.
    @inline(__always)
    static func compare(
        _ a: RawSpan, _ aRange: Range<Int>, _ b: RawSpan, _ bRange: Range<Int>
    ) throws(LMDBError) -> Int {
        if aRange.count == 8, bRange.count == 8 {
            let first = UInt64(bigEndian: try a.load(aRange.lowerBound, as: UInt64.self))
            let second = UInt64(bigEndian: try b.load(bRange.lowerBound, as: UInt64.self))
            return first < second ? -1 : first > second ? 1 : 0
        }
        guard a.contains(aRange), b.contains(bRange) else { throw LMDBError.damage }
        let order = unsafe a.withUnsafeBytes { first in
            unsafe b.withUnsafeBytes { second in
                unsafe memcmp(
                    // Neither is empty, because both contain a range.
                    first.baseAddress! + aRange.lowerBound,
                    second.baseAddress! + bRange.lowerBound,  // Not empty either.
                    min(aRange.count, bRange.count))
            }
        }
        return order == 0 ? aRange.count - bRange.count : Int(order)
    }

    @inline(__always)
    fileprivate func contains(_ range: Range<Int>) -> Bool {
        !isEmpty && range.lowerBound >= 0 && range.upperBound <= byteCount
    }
}

/// One of the two meta pages of `data.mdb`.
///
/// LMDB trusts them: a page size of 0 makes it divide by zero, a root outside of the file kills the
/// process. This type detects a damaged meta page and a file that was cut off before its roots.
/// `StructureCheck` walks through the trees.
///
/// ```
///   page 0, page 1      page header 16, of it: flags at 10
///   16 magic 4   20 version 4   24 address 8   32 map size 8
///   40 free list 48   88 directory of keyspaces 48, each a `TreeRecord`; page size at 40
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

    /// Returns the meta page of the last commit, or `nil` if the file is empty. Throws if LMDB
    /// could not use the meta pages.
    static func latest(_ file: borrowing OpenFile) throws(LMDBError) -> DataFileHead? {
        // A process that has the file open may be writing a meta page at this moment.
        for _ in 0..<8 {
            do { return try readLatest(file) } catch { continue }
        }
        return try readLatest(file)
    }

    /// Returns the meta page of a commit that a reader keeps. Throws if LMDB has replaced it: the
    /// commit after the next one does.
    static func ofCommit(_ number: UInt64, _ file: borrowing OpenFile) throws(LMDBError)
        -> DataFileHead
    {
        let size = UInt64(try file.status(.prepareFiles).size)
        let pageSize = try DataFileHead(file, at: 0).pageSize
        guard pageSize.nonzeroBitCount == 1, (256...65_536).contains(pageSize) else {
            throw LMDBError(.invalidFile, .prepareFiles)
        }
        let head = try DataFileHead(file, at: number % 2 == 0 ? 0 : Int(pageSize))
        guard head.transaction == number, head.pageSize == pageSize, head.isSound(fileSize: size)
        else { throw LMDBError.damage }
        return head
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
        // Readers use the meta page that the last bit of the transaction's number names.
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
        let head = unsafe bytes.bytes.span.bytes
        guard try head.load(10, as: UInt16.self) & Self.metaFlag != 0,
            try head.load(16, as: UInt32.self) == Self.magic
        else { throw LMDBError(.invalidFile, .prepareFiles) }
        guard try head.load(20, as: UInt32.self) == Self.version else {
            throw LMDBError(.versionMismatch, .prepareFiles)
        }
        pageSize = UInt64(try head.load(40, as: UInt32.self))
        mapSize = try head.load(32, as: UInt64.self)
        freeList = try TreeRecord(head, at: 40)
        directory = try TreeRecord(head, at: 88)
        lastPage = try head.load(136, as: UInt64.self)
        transaction = try head.load(144, as: UInt64.self)
    }

    private func isSound(fileSize: UInt64) -> Bool {
        // LMDB may never have written the pages at the end, so an intact file can be shorter than
        // its last page.
        let pages = fileSize / pageSize
        let areRootsSound = [freeList, directory].allSatisfy { tree in
            tree.isEmpty
                ? tree.depth == 0
                : tree.root >= 2 && tree.root < pages && tree.root <= lastPage && tree.depth >= 1
                    && tree.depth <= TreeRecord.maximumDepth
        }
        return areRootsSound && lastPage >= 1 && lastPage <= mapSize / pageSize
            && transaction < UInt64.max / 2
    }
}

/// The description of a tree. Meta pages have one for the free list and one for the directory of
/// keyspaces; a leaf of the directory has one for each keyspace.
///
/// ```
///   0 page size 4 (in the first record of a meta page)   4 flags 2   6 depth 2
///   8 branch pages 8   16 leaf pages 8   24 overflow pages 8   32 entries 8   40 root 8
/// ```
struct TreeRecord {
    static let size = 48
    static let maximumDepth: UInt16 = 32
    private static let noPage = UInt64.max

    struct Size: Equatable {
        var branchPages: UInt64 = 0
        var leafPages: UInt64 = 0
        var overflowPages: UInt64 = 0
        var entries: UInt64 = 0
    }

    let flags: UInt16
    let depth: UInt16
    let root: UInt64
    let size: Size

    init(_ bytes: RawSpan, at offset: Int) throws(LMDBError) {
        guard offset >= 0, offset <= bytes.byteCount - Self.size else { throw LMDBError.damage }
        flags = try bytes.load(offset + 4, as: UInt16.self)
        depth = try bytes.load(offset + 6, as: UInt16.self)
        size = Size(
            branchPages: try bytes.load(offset + 8, as: UInt64.self),
            leafPages: try bytes.load(offset + 16, as: UInt64.self),
            overflowPages: try bytes.load(offset + 24, as: UInt64.self),
            entries: try bytes.load(offset + 32, as: UInt64.self))
        root = try bytes.load(offset + 40, as: UInt64.self)
    }

    var isEmpty: Bool { root == Self.noPage }
}

/// An entry of a branch or leaf page.
///
/// ```
///   leaf     0 data size, low 2   2 data size, high 2   4 flags 2       6 key size 2   8 key, data
///   branch   0 child, low 2       2 child, middle 2     4 child, high 2 6 key size 2   8 key
/// ```
struct PageNode {
    static let headerSize = 8
    /// The flag of a value on overflow pages.
    static let isBig: UInt16 = 1
    /// The flag of a keyspace in the directory.
    static let isTree: UInt16 = 2

    let offset: Int
    let key: Range<Int>
    /// The flags of a node in a leaf.
    let flags: UInt16
    private let low: UInt32

    @inline(__always)
    init(_ page: RawSpan, at offset: Int) throws(LMDBError) {
        // The load proves that the header lies inside the page, so the sums cannot overflow.
        let word = try page.load(offset, as: UInt64.self)
        let keySize = Int(word >> 48)
        self.offset = offset
        key = offset + Self.headerSize..<offset + Self.headerSize + keySize
        guard key.upperBound <= page.byteCount else { throw LMDBError.damage }
        low = UInt32(truncatingIfNeeded: word)
        flags = UInt16(truncatingIfNeeded: word >> 32)
    }

    /// The size of the data of a node in a leaf, on whatever page the data is.
    var dataSize: Int { Int(low) }
    /// The page that a node in a branch refers to.
    var child: UInt64 { UInt64(low) | UInt64(flags) << 32 }
}
