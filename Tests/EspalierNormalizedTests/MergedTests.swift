#if Macros
import Espalier
import Foundation
import Testing

@Normalized(policy: .merge) private struct Topic {
    let id: Int
    @Merged(.newest(by: \.updatedAt)) @Stored("t") let title: String?
    @Stored("updated_at") let updatedAt: Date?
    @Merged(.union) let tags: Set<String>?
    @Merged(.union) let readers: [Reader]?
    @Merged(.append) let page: [Int]?
    @Merged(.keepFirst) let first: Field<Int>
    @Merged(.combined { (old: Int, new: Int) in max(old, new) }) let likes: Int?
}

@Normalized(policy: .merge) private struct Reader {
    let id: Int
    @Merged(.combined(Reader.longer)) let name: String?

    @Sendable static func longer(_ a: String, _ b: String) -> String { a.count > b.count ? a : b }
}

/// A generic type, whose rules are computed.
@Normalized(policy: .merge) private struct Listing<Item: NormalizedModel & Model> {
    let id: Int
    @Merged(.append) let items: [Item]
}

@Suite("Models with @Merged")
struct MergedModelTests {
    @Test("A merge follows the rules of the properties")
    func rules() throws {
        let directory = NSTemporaryDirectory() + "/espalier-merged-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let cache = try NormalizedCache(directory: directory)
        defer { cache.close() }
        let (early, late) = (Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 2))
        try cache.set(
            Topic(
                id: 1, title: "late", updatedAt: late, tags: ["a"],
                readers: [Reader(id: 1, name: "Ada")], page: [1, 2], first: .value(1), likes: 5)
        ).wait()
        try cache.set(
            Topic(
                id: 1, title: "early", updatedAt: early, tags: ["b"],
                readers: [Reader(id: 2, name: "Bo"), Reader(id: 1, name: "A.")], page: [2, 3],
                first: .null, likes: 3)
        ).wait()
        #expect(
            cache.read(Topic.self, "Topic:1")
                == Topic(
                    id: 1, title: "late", updatedAt: late, tags: ["a", "b"],
                    readers: [Reader(id: 1, name: "Ada"), Reader(id: 2, name: "Bo")],
                    page: [1, 2, 3], first: .value(1), likes: 5))
        for page in [[1, 2], [2, 3]] {
            let readers = page.map { Reader(id: $0, name: nil) }
            try cache.set(Listing(id: 1, items: readers)).wait()
        }
        let listing = cache.read(Listing<Reader>.self, "Listing<Reader>:1")
        #expect(listing?.items.map(\.id) == [1, 2, 3])
    }
}
#endif
