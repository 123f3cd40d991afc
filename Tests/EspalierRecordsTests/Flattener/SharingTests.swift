import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("The cost of shared nodes")
struct SharingTests {
    /// Returns a tree with 2^levels paths from top to bottom.
    static func diamond(_ levels: Int) -> Link {
        (0..<levels).reduce(Link("bottom")) { Link("level \($1)", $0, $0) }
    }

    @Test("A diamond of 40 levels is flattened and read in linear time")
    func diamond() throws {
        let tree = try DictionaryRecordSource.flatten(Self.diamond(40))
        #expect(tree.nodes.count == 41)
        let source = DictionaryRecordSource()
        try source.store(tree)
        let top = try source.read("level 39", as: Link.self).get()
        #expect(top.left?.left?.right?.id == "level 36")
        #expect(source.lookups <= 3 * 41)
    }

    @Test("A wide list is flattened and read in linear time")
    func wide() throws {
        let page = Page(id: "p", list: (0..<20_000).map { Leaf("\($0 % 15_000)") })
        let source = DictionaryRecordSource()
        try source.store(page)
        #expect(source.records.count == 15_001)
        #expect(try source.read("p", as: Page.self).get() == page)
        #expect(source.lookups == 20_001)
    }

    @Test("A diamond with a back pointer in every node is read in bounded time")
    func diamondOfBackPointers() throws {
        let top = (1...12).reduce(BackPointer?.none) { below, level in
            BackPointer("b\(level)", top: BackPointer("b12", top: nil), below, below)
        }
        let source = DictionaryRecordSource()
        try source.store(try #require(top))
        let read = try source.read("b12", as: BackPointer.self).get()
        #expect(read.left?.right?.left?.id == "b9")
        #expect(read.top == nil)
        #expect(source.lookups < 50, "\(source.lookups) records read for 12")
    }

    @Test("A diamond in which every node counts as deleted is read in bounded time")
    func diamondOfDeletions() throws {
        let top = (1...14).reduce(Deletable?.none) { below, level in
            Deletable(id: "d\(level)", left: below, right: below, victim: Leaf("victim"))
        }
        let source = DictionaryRecordSource()
        try source.store(try #require(top))
        source.delete("victim")
        #expect(throws: MissReason.deleted) { try source.read("d14", as: Deletable.self).get() }
        #expect(source.lookups < 100, "\(source.lookups) records read for 15")
    }

    /// Reads both sides before the record that it requires, which is deleted.
    private final class Deletable: NormalizedModel {
        let id: String
        let left: Deletable?
        let right: Deletable?
        let victim: Leaf
        var modelIdentifier: String? { id }

        init(id: String, left: Deletable?, right: Deletable?, victim: Leaf) {
            (self.id, self.left, self.right, self.victim) = (id, left, right, victim)
        }

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            left = try decoder.decode(forKey: "left")
            right = try decoder.decode(forKey: "right")
            victim = try decoder.decode(forKey: "victim")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(left, forKey: "left")
            try encoder.encode(right, forKey: "right")
            try encoder.encode(victim, forKey: "victim")
        }
    }
}
