/// What LMDB keeps of a tree: in a meta page for the free list and the directory of keyspaces, in a
/// leaf of the directory for every keyspace.
///
/// ```
///   0 padding 4   4 flags 2   6 depth 2   8 branch pages 8   16 leaf pages 8   24 overflow pages 8   32 entries 8   40 root 8
/// ```
struct TreeRecord {
    static let size = 48
    static let noPage = UInt64.max
    static let deepest: UInt16 = 32

    let flags: UInt16
    let depth: UInt16
    let root: UInt64
    let size: Size

    struct Size: Equatable {
        var branchPages: UInt64 = 0
        var leafPages: UInt64 = 0
        var overflowPages: UInt64 = 0
        var entries: UInt64 = 0
    }

    init(_ bytes: PageBytes, at offset: Int) throws(LMDBError) {
        guard offset >= 0, offset <= bytes.count - Self.size else { throw LMDBError.damage }
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
