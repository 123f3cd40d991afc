/// Walks through all trees of a `data.mdb` before LMDB opens it.
///
/// LMDB trusts the file and dies of a damaged one: a page beyond the end is SIGBUS, a page of the
/// wrong kind SIGABRT. It overwrites a page that is in use and also on the free list. The check
/// accepts a file if each page occurs exactly once, in a tree or on the free list, if the nodes of
/// a page lie side by side, and if the keys are in order. It does not detect damage inside of
/// values: the checksums of records do.
///
/// The check trusts nothing that it reads. Loads are checked against the end of the page. The walk
/// has a stack of bounded depth and stops at a page that it has met before, so it terminates. Pages
/// are read, not mapped: a file that shrinks or a sector that fails is an error and no signal.
///
/// The check can stop after any page and go on later, so that it can be done in small parts. Its
/// trees are those of one commit: `isCurrent` tells whether LMDB has kept their pages
/// meanwhile.
///
/// A prototype was measured with 6,600 damaged files of 11 kinds: LMDB had no crash and no error in
/// the files that the check accepted. Cost: 0.1 to 0.5 ms for each MiB from the page cache, the
/// most for small values.
struct StructureCheck: ~Copyable {
    private static let headerSize = 16
    private static let pageSizes = 4_096...32_768
    private static let branchFlags: UInt16 = 1
    private static let leafFlags: UInt16 = 2
    private static let overflowFlags: UInt16 = 4
    private static let freeListFlags: UInt16 = 0x08
    /// How many values on pages of their own are read at once.
    private static let valuesAtOnce = 16_384
    /// How many headers of pages one call reads, and how many bytes lie between two of them at
    /// most: to copy these takes less time than another call.
    private static let headersAtOnce = 64
    private static let bytesBetween = 8_192

    // immutable
    private let file: OpenFile
    private let pageSize: Int
    private let lastPage: UInt64
    private let lastTransaction: UInt64
    /// The number of whole pages in the file. LMDB may never have written the last pages.
    private let pagesInFile: UInt64

    /// The meta page of the commit whose trees are checked.
    let head: DataFileHead

    private var met: PageSet
    /// The sizes of the nodes of the current page, by half of their offset.
    private var nodeSizes: [UInt16]
    private var keyspaces: [TreeRecord] = []
    /// Values on pages of their own that the walk has met, and not read yet.
    private var values: [OverflowValue] = []
    private var headers = PageBytes(count: headersAtOnce * headerSize)
    /// The number of trees that the check has begun.
    private var treesBegun = 0
    /// The walk that `advance` interrupted.
    private var interrupted: TreeWalk?

    /// Throws `.corrupted` if LMDB could die of the file. No process may change the trees of `head`
    /// meanwhile.
    static func check(_ file: consuming OpenFile, _ head: DataFileHead) throws(LMDBError) {
        var check = try begin(file, head)
        _ = try check.advance(pages: .max)
    }

    /// Prepares a check, which `advance` does. Throws `.corrupted` if the meta page is damaged.
    static func begin(_ file: consuming OpenFile, _ head: DataFileHead) throws(LMDBError)
        -> StructureCheck
    {
        let size = try file.status(.prepareFiles).size
        guard let pageSize = Int(exactly: head.pageSize), pageSizes.contains(pageSize) else {
            throw LMDBError.damage
        }
        // Pages beyond the end are on the free list, which takes eight bytes of the file for each.
        guard head.lastPage <= UInt64(size / pageSize + size / 8),
            head.freeList.flags == freeListFlags, head.directory.flags == 0
        else { throw LMDBError.damage }
        var met = PageSet(limit: head.lastPage + 1)
        for page in 0..<UInt64(2) { try met.insert(page) }
        return StructureCheck(file, fileSize: size, pageSize: pageSize, head, met)
    }

    private init(
        _ file: consuming OpenFile, fileSize: Int, pageSize: Int, _ head: DataFileHead,
        _ met: PageSet
    ) {
        self.file = file
        self.pageSize = pageSize
        self.head = head
        lastPage = head.lastPage
        lastTransaction = head.transaction
        pagesInFile = UInt64(fileSize / pageSize)
        self.met = met
        nodeSizes = Array(repeating: 0, count: pageSize / 2)
    }

    /// Checks about `pages` further pages. Returns whether the check is complete. Throws
    /// `.corrupted` if LMDB could die of the file.
    mutating func advance(pages: Int) throws(LMDBError) -> Bool {
        var rest = pages
        while true {
            if var walk = interrupted.take() {
                while walk.level >= 0 {
                    guard rest > 0 else {
                        interrupted = walk
                        return false
                    }
                    rest -= 1
                    try step(&walk)
                }
                try readValues(&walk)
                guard walk.met == walk.tree.size else { throw LMDBError.damage }
            }
            guard treesBegun < 2 + keyspaces.count else { break }
            interrupted = try beginTree()
        }
        // LMDB would never use a page that is neither in a tree nor on the free list.
        guard met.count == lastPage + 1 else { throw LMDBError.damage }
        return true
    }

    /// Whether LMDB has kept the pages of the trees since the check began: it writes to no page of
    /// the last commit, and this commit still is the last one.
    func isCurrent() throws(LMDBError) -> Bool {
        try DataFileHead.latest(file)?.transaction == lastTransaction
    }

    // MARK: Trees

    /// Begins the walk through the next tree: the free list, the directory, then each keyspace.
    /// Returns `nil` if the tree is empty.
    private mutating func beginTree() throws(LMDBError) -> TreeWalk? {
        let (tree, kind): (TreeRecord, TreeWalk.Kind) =
            switch treesBegun {
            case 0: (head.freeList, .freeList)
            case 1: (head.directory, .directory)
            default: (keyspaces[treesBegun - 2], .keyspace)
            }
        treesBegun += 1
        guard kind != .keyspace || tree.flags == 0 else { throw LMDBError.damage }
        guard !tree.isEmpty else {
            guard tree.depth == 0, tree.size == TreeRecord.Size() else { throw LMDBError.damage }
            return nil
        }
        guard tree.depth >= 1, tree.depth <= TreeRecord.maximumDepth else {
            throw LMDBError.damage
        }
        var walk = TreeWalk(kind, tree, pageSize: pageSize)
        try enter(tree.root, 0, &walk)
        return walk
    }

    /// Checks a leaf or goes on to another page.
    private mutating func step(_ walk: inout TreeWalk) throws(LMDBError) {
        let level = walk.level
        if level == walk.depth - 1 {
            try readLeaf(&walk)
            walk.level -= 1
        } else if walk.steps[level].next == walk.steps[level].count {
            walk.level -= 1
        } else {
            let child = try nextChild(level, &walk)
            walk.level += 1
            try enter(child, walk.level, &walk)
        }
    }

    /// Reads a page and checks its header and the layout of its nodes.
    private mutating func enter(_ number: UInt64, _ level: Int, _ walk: inout TreeWalk)
        throws(LMDBError)
    {
        guard number >= 2, number < pagesInFile else { throw LMDBError.damage }
        try met.insert(number)
        try walk.pages[level].fill(from: file, at: Int(number) * pageSize)
        let buffer = walk.pages[level]
        let page = unsafe buffer.bytes.span.bytes
        let isLeaf = level == walk.depth - 1
        let flags = try page.load(10, as: UInt16.self)
        guard try page.load(0, as: UInt64.self) == number,
            flags == (isLeaf ? Self.leafFlags : Self.branchFlags)
        else { throw LMDBError.damage }
        let count = try countNodes(of: page, isLeaf: isLeaf)
        // LMDB aborts on a branch with a single child, but creates such branches in the free list.
        guard count >= (isLeaf || walk.kind == .freeList ? 1 : 2) else { throw LMDBError.damage }
        walk.steps[level] = TreeWalk.Step(next: 0, count: count)
        if isLeaf { walk.met.leafPages += 1 } else { walk.met.branchPages += 1 }
    }

    private func nextChild(_ level: Int, _ walk: inout TreeWalk) throws(LMDBError) -> UInt64 {
        let index = walk.steps[level].next
        walk.steps[level].next += 1
        let buffer = walk.pages[level]
        let page = unsafe buffer.bytes.span.bytes
        let node = try Self.node(index, of: page)
        // LMDB never reads the first key of a branch, so it may have any content.
        if index > 0 {
            try requireOrder(node.key, of: page, isSeparator: true, walk)
            try keep(node.key, of: page, isSeparator: true, &walk)
        }
        return node.child
    }

    private mutating func readLeaf(_ walk: inout TreeWalk) throws(LMDBError) {
        let level = walk.depth - 1
        let buffer = walk.pages[level]
        let page = unsafe buffer.bytes.span.bytes
        let kind = walk.kind
        let count = walk.steps[level].count
        var previous: Range<Int>?
        for index in 0..<count {
            let node = try Self.node(index, of: page)
            guard (1...Environment.maximumKeySize).contains(node.key.count) else {
                throw LMDBError.damage
            }
            if let previous {
                guard try isOrdered(page, previous, page, node.key, kind) else {
                    throw LMDBError.damage
                }
            } else {
                try requireOrder(node.key, of: page, isSeparator: false, walk)
            }
            // LMDB uses the data of no other entries.
            if kind != .keyspace || node.flags != 0 { try readEntry(node, of: page, &walk) }
            previous = node.key
        }
        walk.met.entries += UInt64(count)
        if let previous { try keep(previous, of: page, isSeparator: false, &walk) }
    }

    // MARK: Order

    /// Checks a key against the last key of another page.
    private func requireOrder(
        _ key: Range<Int>, of page: RawSpan, isSeparator: Bool, _ walk: borrowing TreeWalk
    ) throws(LMDBError) {
        guard let size = walk.lastKeySize else { return }
        let mayEqual = walk.lastWasSeparator && !isSeparator
        let last = unsafe walk.lastKey.bytes.span.bytes
        guard try isOrdered(last, 0..<size, page, key, walk.kind, mayEqual: mayEqual) else {
            throw LMDBError.damage
        }
    }

    private func keep(
        _ key: Range<Int>, of page: RawSpan, isSeparator: Bool, _ walk: inout TreeWalk
    ) throws(LMDBError) {
        try walk.lastKey.copy(key, of: page)
        walk.lastKeySize = key.count
        walk.lastWasSeparator = isSeparator
    }

    @inline(__always)
    private func isOrdered(
        _ a: RawSpan, _ aKey: Range<Int>, _ b: RawSpan, _ bKey: Range<Int>,
        _ kind: TreeWalk.Kind,
        mayEqual: Bool = false
    ) throws(LMDBError) -> Bool {
        guard kind == .freeList else {
            let order = try RawSpan.compare(a, aKey, b, bKey)
            return mayEqual ? order <= 0 : order < 0
        }
        guard aKey.count == 8, bKey.count == 8 else { throw LMDBError.damage }
        let (first, second) = (
            try a.load(aKey.lowerBound, as: UInt64.self),
            try b.load(bKey.lowerBound, as: UInt64.self)
        )
        return mayEqual ? first <= second : first < second
    }

    // MARK: Nodes

    /// The largest size of a node: two must fit a page, each with its pointer.
    private var largestNode: Int { ((pageSize - Self.headerSize) / 2 & ~1) - 2 }

    @inline(__always)
    private static func node(_ index: Int, of page: RawSpan) throws(LMDBError) -> PageNode {
        let pointer = try page.load(headerSize + index * 2, as: UInt16.self)
        return try PageNode(page, at: Int(pointer))
    }

    /// Checks that the nodes lie side by side from the end of the free space to the end of the
    /// page: LMDB relies on it when it moves bytes in a page. Returns the number of nodes.
    private mutating func countNodes(of page: RawSpan, isLeaf: Bool) throws(LMDBError) -> Int {
        let lower = Int(try page.load(12, as: UInt16.self))
        let upper = Int(try page.load(14, as: UInt16.self))
        guard lower >= Self.headerSize, lower % 2 == 0, lower <= upper, upper <= pageSize,
            upper % 2 == 0
        else {
            throw LMDBError.damage
        }
        let count = (lower - Self.headerSize) / 2
        let (largestNode, pageSize) = (largestNode, pageSize)
        var nodeSizes = nodeSizes.mutableSpan
        for index in 0..<count {
            let node = try Self.node(index, of: page)
            guard node.offset >= upper, node.offset % 2 == 0 else { throw LMDBError.damage }
            var size = PageNode.headerSize + node.key.count
            if isLeaf { size += node.flags & PageNode.isBig == 0 ? node.dataSize : 8 }
            guard size <= largestNode else { throw LMDBError.damage }
            nodeSizes[node.offset / 2] = UInt16(size + size % 2)
        }
        var (offset, found) = (upper, 0)
        while offset < pageSize {
            let size = Int(nodeSizes[offset / 2])
            guard size > 0 else { throw LMDBError.damage }
            nodeSizes[offset / 2] = 0
            offset += size
            found += 1
        }
        guard offset == pageSize, found == count else { throw LMDBError.damage }
        return count
    }

    /// Checks the data of an entry as far as LMDB uses it.
    private mutating func readEntry(_ node: PageNode, of page: RawSpan, _ walk: inout TreeWalk)
        throws(LMDBError)
    {
        if walk.kind == .directory {
            guard node.flags == PageNode.isTree, node.dataSize == TreeRecord.size else {
                throw LMDBError.damage
            }
            keyspaces.append(try TreeRecord(page, at: node.key.upperBound))
            return
        }
        guard node.flags == 0 || node.flags == PageNode.isBig else { throw LMDBError.damage }
        if node.flags == PageNode.isBig {
            let first = try page.load(node.key.upperBound, as: UInt64.self)
            guard first >= 2, first < pagesInFile else { throw LMDBError.damage }
            values.append(OverflowValue(page: first, size: node.dataSize))
        }
        guard walk.kind == .freeList else {
            if values.count >= Self.valuesAtOnce { try readValues(&walk) }
            return
        }
        guard node.key.count == 8 else { throw LMDBError.damage }
        let transaction = try page.load(node.key.lowerBound, as: UInt64.self)
        guard transaction >= 1, transaction <= lastTransaction else { throw LMDBError.damage }
        if let value = values.last {
            // Its pages prove that the value is in the file, which bounds its size.
            try readValues(&walk)
            var list = PageBytes(count: value.size)
            try list.fill(from: file, at: Int(value.page) * pageSize + Self.headerSize)
            try unsafe readFreePages(list.bytes.span.bytes, at: 0, size: value.size)
        } else {
            try readFreePages(page, at: node.key.upperBound, size: node.dataSize)
        }
    }

    /// Checks the first pages of `values`, and forgets these. The headers of pages that lie close
    /// together are read by one call of the system: in a file of small values, their calls were
    /// nine tenths of the time.
    private mutating func readValues(_ walk: inout TreeWalk) throws(LMDBError) {
        values.sort { $0.page < $1.page }
        let distance = UInt64(Self.bytesBetween / pageSize)
        var start = 0
        while start < values.count {
            var offsets = [Int(values[start].page) * pageSize]
            while offsets.count < Self.headersAtOnce, start + offsets.count < values.count {
                let next = values[start + offsets.count].page
                guard next - values[start + offsets.count - 1].page <= distance else { break }
                offsets.append(Int(next) * pageSize)
            }
            try headers.fillParts(of: Self.headerSize, from: file, at: offsets)
            let read = headers
            let bytes = unsafe read.bytes.span.bytes
            for index in offsets.indices {
                walk.met.overflowPages += try meetPages(
                    of: values[start + index], bytes, at: index * Self.headerSize)
            }
            start += offsets.count
        }
        values.removeAll(keepingCapacity: true)
    }

    /// Checks the header of the adjacent pages that hold one value. There may be more of them than
    /// the value needs, because LMDB keeps them when a shorter value replaces a longer one. Returns
    /// the number of the pages.
    private mutating func meetPages(
        of value: OverflowValue, _ headers: RawSpan, at offset: Int
    ) throws(LMDBError) -> UInt64 {
        let count = UInt64(try headers.load(offset + 12, as: UInt32.self))
        let needed = (Self.headerSize - 1 + value.size) / pageSize + 1
        guard try headers.load(offset, as: UInt64.self) == value.page,
            try headers.load(offset + 10, as: UInt16.self) == Self.overflowFlags,
            count >= UInt64(needed), count <= pagesInFile - value.page
        else { throw LMDBError.damage }
        for number in value.page..<value.page + count { try met.insert(number) }
        return count
    }

    /// Checks a list of free pages: a count and that many page numbers in descending order. LMDB
    /// reserves space behind them.
    private mutating func readFreePages(_ list: RawSpan, at offset: Int, size: Int)
        throws(LMDBError)
    {
        guard size >= 8, size % 8 == 0 else { throw LMDBError.damage }
        let count = try list.load(offset, as: UInt64.self)
        guard count <= UInt64(size / 8 - 1) else { throw LMDBError.damage }
        var previous = UInt64.max
        for index in 0..<Int(count) {
            let page = try list.load(offset + 8 + index * 8, as: UInt64.self)
            // `insert` refuses pages 0 and 1, which are in the set, and pages beyond the last.
            guard page < previous else { throw LMDBError.damage }
            try met.insert(page)
            previous = page
        }
    }
}

/// A value on pages of its own.
private struct OverflowValue {
    /// The first page.
    let page: UInt64
    /// The length of the value in bytes.
    let size: Int
}

/// The pages that the check has met, in use or free. A second insertion of a page throws.
private struct PageSet {
    private var words: [UInt64]
    private let limit: UInt64
    private(set) var count: UInt64 = 0

    /// Makes a set for the pages below `limit`.
    init(limit: UInt64) {
        self.limit = limit
        words = [UInt64](repeating: 0, count: Int(limit / 64) + 1)
    }

    mutating func insert(_ page: UInt64) throws(LMDBError) {
        guard page < limit else { throw LMDBError.damage }
        let (word, bit) = (Int(page / 64), UInt64(1) << (page % 64))
        guard words[word] & bit == 0 else { throw LMDBError.damage }
        words[word] |= bit
        count += 1
    }
}

/// The position of the walk through one tree.
private struct TreeWalk {
    enum Kind {
        case freeList, directory, keyspace
    }

    struct Step {
        var next = 0
        var count = 0
    }

    let kind: Kind
    let tree: TreeRecord
    let depth: Int
    /// The level of the current page, 0 for the root; below 0 when the walk is complete.
    var level = 0
    /// The pages from the root to the current one.
    var pages: [PageBytes]
    /// For each of `pages`, the index of the next child and the number of children.
    var steps: [Step]
    var met = TreeRecord.Size()
    /// The last key. An entry may equal the separator before it, but not the entry before it.
    var lastKey: PageBytes
    var lastKeySize: Int?
    var lastWasSeparator = false

    init(_ kind: Kind, _ tree: TreeRecord, pageSize: Int) {
        self.kind = kind
        self.tree = tree
        depth = Int(tree.depth)
        pages = Array(repeating: PageBytes(count: pageSize), count: depth)
        steps = Array(repeating: Step(), count: depth)
        lastKey = PageBytes(count: 512)
    }
}
