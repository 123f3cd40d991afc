/// Which pages have been met, in use or free: no page may be met twice.
struct PageSet {
    private var words: [UInt64]
    private let limit: UInt64
    private(set) var count: UInt64 = 0

    /// For pages 0 ..< `limit`.
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
