/// One entry of a branch or leaf page.
///
/// ```
///   leaf     0 data size, low 2    2 data size, high 2   4 flags 2            6 key size 2   8 key, data
///   branch   0 child, low 2        2 child, middle 2     4 child, high 2      6 key size 2   8 key
/// ```
struct PageNode {
    static let headerSize = 8

    let offset: Int
    let key: Range<Int>
    /// Flags of a leaf's node.
    let flags: UInt16
    private let low: UInt32

    static let isBig: UInt16 = 1
    static let isTree: UInt16 = 2

    @inline(__always)
    init(_ page: PageBytes, at offset: Int) throws(LMDBError) {
        // A node's header and key lie inside the page, so the sum can't overflow.
        let word = try page.load(offset, as: UInt64.self)
        let keySize = Int(word >> 48)
        self.offset = offset
        key = offset + Self.headerSize..<offset + Self.headerSize + keySize
        guard key.upperBound <= page.count else { throw LMDBError.damage }
        low = UInt32(truncatingIfNeeded: word)
        flags = UInt16(truncatingIfNeeded: word >> 32)
    }

    /// Of a leaf's node, wherever the data is.
    var dataSize: Int { Int(low) }
    /// Of a branch's node.
    var child: UInt64 { UInt64(low) | UInt64(flags) << 32 }
}
