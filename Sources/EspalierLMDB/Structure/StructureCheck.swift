/// Walks every tree of a `data.mdb` before LMDB sees it.
///
/// LMDB takes a file at its word and dies of a damaged one: pages beyond the end are SIGBUS, pages
/// that are not what they should be SIGABRT, a page that is in use and on the free list, too, is
/// overwritten. What passes here is a file whose pages are all met exactly once, in a tree or on
/// the free list, with their nodes side by side and their keys in order. Damage inside of values
/// passes: that is what checksums of records are for.
///
/// Nothing read is trusted: loads are checked against the end of their page, the walk keeps a stack
/// of bounded depth, and a page met twice ends it, so it ends. Pages are read, not mapped: a file
/// that shrinks or a sector that fails is an error and no signal. Cost: 0.2 to 0.6 ms per MiB from
/// the page cache, the most where values are small.
struct StructureCheck: ~Copyable {
    static let headerSize = 16
    private static let pageSizes = 4_096...32_768
    private static let freeListFlags: UInt16 = 0x08

    // immutable
    let file: OpenFile
    let pageSize: Int
    let lastPage: UInt64
    let lastTransaction: UInt64
    /// Whole pages in the file; those after the last that was ever written need not be there.
    let pagesInFile: UInt64

    var met: PageSet
    /// Sizes of the nodes of the page at hand, by half of their offset.
    var nodeSizes: [UInt16]
    var keyspaces: [TreeRecord] = []

    /// Throws `.corrupted` when LMDB could stumble over the file. Nobody may change it meanwhile.
    static func check(_ file: consuming OpenFile, _ head: DataFileHead) throws(LMDBError) {
        let size = try file.status(.prepareFiles).size
        guard let pageSize = Int(exactly: head.pageSize), pageSizes.contains(pageSize) else {
            throw LMDBError.damage
        }
        // Pages beyond the end are on the free list, which has eight bytes in the file for each.
        guard head.lastPage <= UInt64(size / pageSize + size / 8) else { throw LMDBError.damage }
        var check = StructureCheck(file, fileSize: size, pageSize: pageSize, head)
        try check.run(head)
    }

    private init(_ file: consuming OpenFile, fileSize: Int, pageSize: Int, _ head: DataFileHead) {
        self.file = file
        self.pageSize = pageSize
        lastPage = head.lastPage
        lastTransaction = head.transaction
        pagesInFile = UInt64(fileSize / pageSize)
        met = PageSet(limit: lastPage + 1)
        nodeSizes = Array(repeating: 0, count: pageSize / 2)
    }

    private mutating func run(_ head: DataFileHead) throws(LMDBError) {
        for page in 0..<UInt64(2) { try met.insert(page) }
        guard head.freeList.flags == Self.freeListFlags, head.directory.flags == 0 else {
            throw LMDBError.damage
        }
        try walk(head.freeList, .freeList)
        try walk(head.directory, .directory)
        for keyspace in keyspaces {
            guard keyspace.flags == 0 else { throw LMDBError.damage }
            try walk(keyspace, .keyspace)
        }
        // A page that is neither used nor free would be lost for ever.
        guard met.count == lastPage + 1 else { throw LMDBError.damage }
    }
}
