/// How far the walk through one tree has come.
struct TreeWalk {
    enum Kind {
        case freeList, directory, keyspace
    }

    struct Step {
        var next = 0
        var count = 0
    }

    let kind: Kind
    let depth: Int
    /// The way from the root to where the walk is: a page for each level, and the next of its
    /// children.
    var pages: [PageBytes]
    var steps: [Step]
    var met = TreeRecord.Size()
    /// The last key passed; a separator may be followed by itself, an entry may not.
    var lastKey: PageBytes
    var lastKeySize: Int?
    var lastWasSeparator = false

    init(_ kind: Kind, depth: Int, pageSize: Int) {
        self.kind = kind
        self.depth = depth
        pages = Array(repeating: PageBytes(count: pageSize), count: depth)
        steps = Array(repeating: Step(), count: depth)
        lastKey = PageBytes(count: 512)
    }
}
