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
        var limits = TreeLimits()
        limits.maximumLogicalNodes = .max
        let top = try source.read("level 39", as: Link.self, limits: limits).get()
        #expect(top.left?.left?.right?.id == "level 36")
        #expect(source.lookups <= 3 * 41)
    }

    @Test("A diamond of 40 or 90 levels is too large to return, and stops the read at once")
    func hugeDiamond() throws {
        for levels in [40, 90] {
            let source = DictionaryRecordSource()
            try source.store(Self.diamond(levels))
            let result = source.read("level \(levels - 1)", as: Link.self)
            guard case .failure(.tooLarge(let path)) = result else {
                Issue.record("\(levels) levels: \(result)")
                continue
            }
            #expect(path.hasPrefix("level "))
            #expect(source.lookups <= 3 * levels)
        }
    }

    @Test("Logical nodes are counted exactly, shared ones as often as they occur")
    func logicalNodes() throws {
        // 2^(levels + 1) - 1 nodes; the lists repeat 5 distinct nodes 200 times.
        let source = DictionaryRecordSource()
        try source.store(Self.diamond(10))
        try source.store(Page(id: "p", list: (0..<1_000).map { Leaf("\($0 % 5)") }))
        func holds(_ nodes: Int, _ read: (TreeLimits) -> MissReason?) -> Bool {
            var exact = TreeLimits()
            exact.maximumLogicalNodes = nodes
            var tooFew = exact
            tooFew.maximumLogicalNodes -= 1
            return read(exact) == nil && read(tooFew)?.name == "tooLarge"
        }
        #expect(
            holds((1 << 11) - 1) { source.read("level 9", as: Link.self, limits: $0).missReason })
        #expect(holds(1_001) { source.read("p", as: Page.self, limits: $0).missReason })
    }

    @Test("A limit on decoded nodes does not count repeated models")
    func distinctNodes() throws {
        let source = DictionaryRecordSource()
        try source.store(Page(id: "p", list: (0..<1_000).map { Leaf("\($0 % 5)") }))
        var limits = TreeLimits()
        // The page, and each of the five twice: models are kept from the second visit on.
        limits.maximumNodes = 11
        #expect(source.read("p", as: Page.self, limits: limits).missReason == nil)
        limits.maximumNodes = 10
        #expect(source.read("p", as: Page.self, limits: limits).missReason?.name == "tooLarge")
    }

    @Test("Values inside one record that share memory stop the flattening at the limit on bytes")
    func sharedInlineValues() throws {
        var limits = TreeLimits()
        limits.maximumBytes = 100_000
        let flattener = Flattener(limits: limits)
        #expect(throws: FlattenError.treeTooLarge(limit: 100_000)) {
            try flattener.value { try Nested.diamond(60).encodeValue(into: $0) }
        }
    }

    /// Arrays in arrays.
    private indirect enum Nested: FieldValue {
        case leaf
        case pair(Nested, Nested)

        static func diamond(_ levels: Int) -> Nested {
            (0..<levels).reduce(.leaf) { below, _ in .pair(below, below) }
        }

        func encodeValue(into encoder: ValueEncoder) throws {
            guard case .pair(let left, let right) = self else { return encoder.encodeNull() }
            try encoder.encodeArray(count: 2) {
                try left.encodeValue(into: encoder)
                try right.encodeValue(into: encoder)
            }
        }

        static func decodeValue(from decoder: inout ValueDecoder) throws -> Nested {
            try decoder.skipValue()
            return .leaf
        }
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

extension Result where Failure == MissReason {
    fileprivate var missReason: MissReason? {
        if case .failure(let reason) = self { reason } else { nil }
    }
}
