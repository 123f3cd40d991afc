import EspalierRecords

/// Where a commit has edited keyspaces: what tells how many pages its commit copies.
struct Edits {
    /// Records rewritten or taken away.
    var nodes: [Handle] = []
    /// Entries put in or taken out.
    var index: [[UInt8]] = []
    /// Pages that new values fill.
    private(set) var newPages = 0
    private var newBytes = 0

    /// Two values of more than half a page do not share one, and stand on a page of their own.
    mutating func note(newBytes count: Int) {
        guard count <= 2_038 else { return newPages += 1 }
        newBytes += count + 24
        newPages += newBytes / 4_080
        newBytes %= 4_080
    }
}
