extension StructureCheck {
    private static let overflowFlags: UInt16 = 4

    /// What a node in a page may take: two have to fit, each with its pointer.
    private var largestNode: Int { ((pageSize - Self.headerSize) / 2 & ~1) - 2 }

    func node(_ index: Int, of page: PageBytes) throws(LMDBError) -> PageNode {
        let pointer = try page.load(Self.headerSize + index * 2, as: UInt16.self)
        return try PageNode(page, at: Int(pointer))
    }

    /// Makes sure that the nodes lie side by side from the end of the free space to the end of the
    /// page: LMDB moves bytes about in a page on the strength of that. Returns how many there are.
    mutating func tile(_ page: PageBytes, isLeaf: Bool) throws(LMDBError) -> Int {
        let lower = Int(try page.load(12, as: UInt16.self))
        let upper = Int(try page.load(14, as: UInt16.self))
        guard lower >= Self.headerSize, lower % 2 == 0, lower <= upper, upper <= pageSize,
            upper % 2 == 0
        else {
            throw LMDBError.damage
        }
        let count = (lower - Self.headerSize) / 2
        for index in 0..<count {
            let node = try node(index, of: page)
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

    /// The data of an entry, as far as LMDB follows it.
    mutating func readEntry(_ node: PageNode, of page: PageBytes, _ walk: inout TreeWalk)
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
        let overflow = node.flags == 0 ? nil : try readOverflow(node, of: page)
        if let overflow { walk.met.overflowPages += overflow.count }
        guard walk.kind == .freeList else { return }
        guard node.key.count == 8 else { throw LMDBError.damage }
        let transaction = try page.load(node.key.lowerBound, as: UInt64.self)
        guard transaction >= 1, transaction <= lastTransaction else { throw LMDBError.damage }
        if let overflow {
            // The run is in the file, so the size is one a file can have.
            var list = PageBytes(count: node.dataSize)
            try list.fill(from: file, at: Int(overflow.first) * pageSize + Self.headerSize)
            try readFreePages(list, at: 0, size: node.dataSize)
        } else {
            try readFreePages(page, at: node.key.upperBound, size: node.dataSize)
        }
    }

    /// A run of pages that holds one value. It may be longer than the value needs, when that was
    /// overwritten by a shorter one.
    private mutating func readOverflow(
        _ node: PageNode, of page: PageBytes
    ) throws(LMDBError) -> (first: UInt64, count: UInt64) {
        let first = try page.load(node.key.upperBound, as: UInt64.self)
        guard first >= 2, first < pagesInFile else { throw LMDBError.damage }
        var header = PageBytes(count: Self.headerSize)
        try header.fill(from: file, at: Int(first) * pageSize)
        let count = UInt64(try header.load(12, as: UInt32.self))
        let needed = (Self.headerSize - 1 + node.dataSize) / pageSize + 1
        guard try header.load(0, as: UInt64.self) == first,
            try header.load(10, as: UInt16.self) == Self.overflowFlags,
            count >= UInt64(needed), count <= pagesInFile - first
        else { throw LMDBError.damage }
        for number in first..<first + count { try met.insert(number) }
        return (first, count)
    }

    /// A count and that many page numbers, descending. Room behind them is room LMDB had set aside.
    private mutating func readFreePages(_ list: PageBytes, at offset: Int, size: Int)
        throws(LMDBError)
    {
        guard size >= 8, size % 8 == 0 else { throw LMDBError.damage }
        let count = try list.load(offset, as: UInt64.self)
        guard count <= UInt64(size / 8 - 1) else { throw LMDBError.damage }
        var previous = UInt64.max
        for index in 0..<Int(count) {
            let page = try list.load(offset + 8 + index * 8, as: UInt64.self)
            // Pages 0 and 1 have been met, and numbers beyond the last page are refused there.
            guard page < previous else { throw LMDBError.damage }
            try met.insert(page)
            previous = page
        }
    }
}
