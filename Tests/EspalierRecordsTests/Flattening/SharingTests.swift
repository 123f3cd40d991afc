import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Shared nodes cost what they are, not how often they occur")
struct SharingTests {
    /// 2^levels paths from top to bottom.
    static func diamond(_ levels: Int) -> Link {
        (0..<levels).reduce(Link("bottom")) { Link("level \($1)", $0, $0) }
    }

    @Test("a diamond of 40 levels is flattened and read in linear time")
    func diamond() throws {
        let tree = try DictionaryRecordSource.flatten(Self.diamond(40))
        #expect(tree.nodes.count == 41)
        let source = DictionaryRecordSource()
        try source.store(tree)
        let top = try source.read("level 39", as: Link.self).get()
        #expect(top.left?.left?.right?.id == "level 36")
        #expect(source.lookups <= 3 * 41)
    }

    @Test("a wide list is flattened and read in linear time")
    func wide() throws {
        let page = Page(id: "p", list: (0..<20_000).map { Leaf("\($0 % 15_000)") })
        let source = DictionaryRecordSource()
        try source.store(page)
        #expect(source.records.count == 15_001)
        #expect(try source.read("p", as: Page.self).get() == page)
        #expect(source.lookups == 20_001)
    }

    @Test("a diamond with a back pointer in every node is read in bounded time")
    func diamondOfBackPointers() throws {
        let top = (1...12).reduce(BackPointer?.none) { below, level in
            BackPointer("b\(level)", top: BackPointer("b12", top: nil), below, below)
        }
        let source = DictionaryRecordSource()
        try source.store(try #require(top))
        let read = try source.read("b12", as: BackPointer.self).get()
        #expect(read.left?.right?.left?.id == "b9")
        #expect(read.top == nil)
        // The memo keeps no subtree with a cut, whose every occurrence is read again: 4,095 look-ups.
        withKnownIssue { #expect(source.lookups < 200, "\(source.lookups) records read for 12") }
    }
}
