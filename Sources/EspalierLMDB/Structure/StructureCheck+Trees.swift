extension StructureCheck {
    private static let branchFlags: UInt16 = 1
    private static let leafFlags: UInt16 = 2

    mutating func walk(_ tree: TreeRecord, _ kind: TreeWalk.Kind) throws(LMDBError) {
        guard !tree.isEmpty else {
            guard tree.depth == 0, tree.size == TreeRecord.Size() else { throw LMDBError.damage }
            return
        }
        guard tree.depth >= 1, tree.depth <= TreeRecord.deepest else { throw LMDBError.damage }
        var walk = TreeWalk(kind, depth: Int(tree.depth), pageSize: pageSize)
        var level = 0
        try enter(tree.root, level, &walk)
        while level >= 0 {
            if level == walk.depth - 1 {
                try readLeaf(&walk)
                level -= 1
            } else if walk.steps[level].next == walk.steps[level].count {
                level -= 1
            } else {
                let child = try nextChild(level, &walk)
                level += 1
                try enter(child, level, &walk)
            }
        }
        guard walk.met == tree.size else { throw LMDBError.damage }
    }

    /// Reads a page and judges its header and whether its nodes tile it.
    private mutating func enter(_ number: UInt64, _ level: Int, _ walk: inout TreeWalk)
        throws(LMDBError)
    {
        guard number >= 2, number < pagesInFile else { throw LMDBError.damage }
        try met.insert(number)
        try walk.pages[level].fill(from: file, at: Int(number) * pageSize)
        let isLeaf = level == walk.depth - 1
        let flags = try walk.pages[level].load(10, as: UInt16.self)
        guard try walk.pages[level].load(0, as: UInt64.self) == number,
            flags == (isLeaf ? Self.leafFlags : Self.branchFlags)
        else { throw LMDBError.damage }
        let count = try tile(walk.pages[level], isLeaf: isLeaf)
        // LMDB itself leaves branches with a single child in the free list, and aborts on one
        // elsewhere.
        guard count >= (isLeaf || walk.kind == .freeList ? 1 : 2) else { throw LMDBError.damage }
        walk.steps[level] = TreeWalk.Step(next: 0, count: count)
        if isLeaf { walk.met.leafPages += 1 } else { walk.met.branchPages += 1 }
    }

    private func nextChild(_ level: Int, _ walk: inout TreeWalk) throws(LMDBError) -> UInt64 {
        let index = walk.steps[level].next
        walk.steps[level].next += 1
        let node = try node(index, of: walk.pages[level])
        // The first key of a branch is never looked at, and may be anything.
        if index > 0 {
            try pass(node.key, of: walk.pages[level], isSeparator: true, &walk)
            try keep(node.key, of: walk.pages[level], isSeparator: true, &walk)
        }
        return node.child
    }

    private mutating func readLeaf(_ walk: inout TreeWalk) throws(LMDBError) {
        let level = walk.depth - 1
        var previous: Range<Int>?
        for index in 0..<walk.steps[level].count {
            let node = try node(index, of: walk.pages[level])
            guard (1...Environment.maximumKeySize).contains(node.key.count) else {
                throw LMDBError.damage
            }
            if let previous {
                guard
                    try isOrdered(
                        walk.pages[level], previous, walk.pages[level], node.key, walk.kind)
                else {
                    throw LMDBError.damage
                }
            } else {
                try pass(node.key, of: walk.pages[level], isSeparator: false, &walk)
            }
            try readEntry(node, of: walk.pages[level], &walk)
            previous = node.key
        }
        walk.met.entries += UInt64(walk.steps[level].count)
        if let previous { try keep(previous, of: walk.pages[level], isSeparator: false, &walk) }
    }

    // MARK: Order

    /// A key that follows the last of another page.
    private func pass(
        _ key: Range<Int>, of page: PageBytes, isSeparator: Bool, _ walk: inout TreeWalk
    ) throws(LMDBError) {
        guard let size = walk.lastKeySize else { return }
        let mayEqual = walk.lastWasSeparator && !isSeparator
        guard try isOrdered(walk.lastKey, 0..<size, page, key, walk.kind, mayEqual: mayEqual) else {
            throw LMDBError.damage
        }
    }

    private func keep(
        _ key: Range<Int>, of page: PageBytes, isSeparator: Bool, _ walk: inout TreeWalk
    ) throws(LMDBError) {
        try walk.lastKey.copy(key, of: page)
        walk.lastKeySize = key.count
        walk.lastWasSeparator = isSeparator
    }

    @inline(__always)
    private func isOrdered(
        _ a: PageBytes, _ aKey: Range<Int>, _ b: PageBytes, _ bKey: Range<Int>,
        _ kind: TreeWalk.Kind,
        mayEqual: Bool = false
    ) throws(LMDBError) -> Bool {
        guard kind == .freeList else {
            let order = try PageBytes.compare(a, aKey, b, bKey)
            return mayEqual ? order <= 0 : order < 0
        }
        guard aKey.count == 8, bKey.count == 8 else { throw LMDBError.damage }
        let (first, second) = (
            try a.load(aKey.lowerBound, as: UInt64.self),
            try b.load(bKey.lowerBound, as: UInt64.self)
        )
        return mayEqual ? first <= second : first < second
    }
}
