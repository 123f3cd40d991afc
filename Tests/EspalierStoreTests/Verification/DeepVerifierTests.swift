import EspalierInspection
import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("A deep check decodes everything")
struct DeepVerifierTests {
    private typealias Found = (invariant: Int, identifier: String?, path: String?)

    /// Returns the problems that only a deep check finds.
    private func findings(_ cache: NormalizedCache) throws -> [VerifyReport.Problem] {
        try cache.verify(deep: true).problems.filter { $0.invariant > 6 }
    }

    /// Replaces the name of a person by `value`, in a record with a matching check.
    private func rewrite(_ identifier: String, name value: [UInt8], in cache: NormalizedCache)
        throws
    {
        let handle = try #require(try cache.handle(identifier))
        let record = try #require(try cache.record(handle))
        var writer = ByteWriter()
        writer.append(value: identifier)
        let shape = RecordLayout.ShapeReference.number(record.shapeNumber, record.shape)
        let bytes = RecordLayout.build(
            handle: handle, nameSpace: .node, shape: shape, children: record.children,
            identifier: identifier, values: writer.bytes + value)
        try cache.replaceRecord(handle, by: bytes, shape)
    }

    private static let values: [(what: String, bytes: [UInt8])] = [
        ("a string that is no UTF-8", [0xA2, 0xC3, 0x28]),
        ("a string that ends early", [0xA5, 0x41]),
        ("a string in a longer form", [0xD9, 1, 0x41]),
        ("an integer in a longer form", [0xCD, 0, 7]),
        ("an unknown kind of value", [0xC7, 1, 99, 0]),
        ("a child that is not there", [0xD4, 1, 5]),
        ("digits that are none", [0xC7, 4, 2, 0x31, 0x32, 0x33, 0x78]),
        ("arrays nested too deep", Array(repeating: 0x91, count: 300) + [0xC0]),
    ]

    @Test(
        "A deep check reports a value that is not of the format, with its record and field",
        arguments: values.map(\.what))
    func value(what: String) throws {
        try withCache(isDamaged: true) { cache in
            try cache.set(
                Message("m:1", from: Person("p:anna", "Anna"), to: Person("p:ben", "Ben"))
            ).wait()
            #expect(try findings(cache) == [])
            let bytes = try #require(Self.values.first { $0.what == what }).bytes
            try rewrite("p:anna", name: bytes, in: cache)
            let report = try cache.verify(deep: true)
            let found = report.problems.filter { $0.invariant == 7 }
            #expect(found.map(\.identifier) == ["p:anna"], "\(report.problems)")
            #expect(found.first?.path?.hasPrefix("p:anna.name") == true)
            // The message that refers to it, and the person itself.
            #expect(report.trees == 3 && report.unreadableTrees == 2)
        }
    }

    @Test(
        """
        A deep check reports references to unreadable records with their path, and none to deleted \
        ones
        """
    )
    func references() throws {
        try withCache(isDamaged: true) { cache in
            cache.setCollection(
                [Message("m:1", from: Person("p:1", ""), to: Person("p:2", ""))]
                    + (3...5).map { Message("m:\($0)", from: Person("p:\($0)", "")) }, forKey: "c")
            try cache.delete("p:2").wait()
            #expect(try findings(cache) == [])
            let handles = try (3...5).map { try #require(try cache.handle("p:\($0)")) }
            try cache.damage(handles[0])
            for handle in handles[1...] { try cache.removeBytes(of: handle) }
            try cache.tamper(withState: StateEntry(flags: .lost), of: handles[1])
            let report = try cache.verify(deep: true)
            let found = report.problems.filter { $0.invariant == 8 }
            let paths = Set(found.compactMap(\.path))
            #expect(paths == Set((3...5).flatMap { ["m:\($0).sender", "p:\($0)"] }))
            #expect(found.first { $0.path == "m:4.sender" }?.detail.contains("lost") == true)
            #expect(found.first { $0.path == "m:5.sender" }?.detail.contains("not there") == true)
            // The collection, three messages and three people; those of m:1 are deleted.
            #expect(report.trees == 9 && report.unreadableTrees == 7)
            let misses = try ["m:3.sender", "m:4.sender", "m:5.sender"].map { path in
                let outcome = cache.readOutcome(Message.self, String(path.prefix(3)))
                return try #require(outcome.reason).description.contains(path)
            }
            #expect(misses == [true, true, true])
        }
    }

    @Test("A deep check reports a segment whose elements differ from its collection's count")
    func segments() throws {
        try withCache(isDamaged: true) { cache in
            try cache.setCollection((0..<3).map { Remark("\($0)") }, forKey: "c").wait()
            let handle = try #require(try cache.handle("c", in: .collection))
            let record = try #require(try cache.record(handle))
            let bytes = RecordLayout.build(
                handle: handle, nameSpace: .collection, shape: .none, children: record.children,
                identifier: "c", values: [0x91, 2])
            try cache.replaceRecord(handle, by: bytes)
            #expect(try findings(cache).map(\.identifier) == ["c"])
        }
    }

    @Test(
        """
        A deep check finds nothing in intact caches, whatever they hold, and without `deep` it is \
        the plain check
        """
    )
    func sound() throws {
        try withCache { cache in
            cache.set(Message("m:1", from: Person("p:1", "é\u{301}"), to: nil))
            cache.setModel(Remark("inline"), forKey: "k")
            cache.setCollection((0..<600).map { Remark("\($0)") }, forKey: "c")
            try cache.set(Box("b:1", [Int128.max, Int128(7), Int128.min])).wait()
            try cache.set(Box("b:2", ["a": [1.5, -0.0, .infinity], "b": []])).wait()
            let report = try cache.verify(deep: true)
            #expect(
                report.isClean && report.trees == 6 && report.unreadableTrees == 0
                    && report.values > 600)
            let shallow = try cache.verify(deep: false)
            #expect(shallow == (try cache.verify()) && shallow.values == 0 && shallow.trees == 0)
        }
    }

    @Test("A deep check of a closed cache throws")
    func closed() throws {
        try withCache { cache in
            cache.close()
            #expect(throws: CacheError.self) { try cache.verify(deep: true) }
        }
    }
}
