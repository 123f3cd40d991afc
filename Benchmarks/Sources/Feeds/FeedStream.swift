package import EspalierFixtures
import Foundation

/// What the texts and the identifiers of feeds are made of.
package enum FeedContent: String, CaseIterable, Codable, Sendable {
    /// Words of a small vocabulary, and numbers.
    case generated
    /// English prose, and numbers.
    case prose
    /// Words of a small vocabulary, and UUIDs.
    case uuids

    fileprivate func generator(seed: UInt64) -> FeedGenerator {
        switch self {
        case .generated: FeedGenerator(seed: seed)
        case .prose: FeedGenerator(seed: seed, texts: .runs(of: Prose.words))
        case .uuids: FeedGenerator(seed: seed, identifiers: .uuids)
        }
    }
}

/// Sentences of this project's own documentation: the file says from where.
package enum Prose {
    package static let words: [String] = {
        guard let file = Bundle.module.url(forResource: "Prose", withExtension: "txt"),
            let text = try? String(contentsOf: file, encoding: .utf8)
        else { fatalError("The build has not put Prose.txt beside the program.") }
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .flatMap { $0.split(separator: " ") }.map(String.init)
    }()
}

/// Makes the feeds of a `FeedSet` one after the other, for caches that take more of them than
/// memory should hold.
package struct FeedStream {
    package let people: [HandWrittenPerson]
    private let posts: Int
    private let table: ZipfTable
    private var generator: FeedGenerator
    private var random: SplitMix64
    private var number = 0

    package init(
        seed: UInt64 = 1, people count: Int = 2_000, posts: Int = 100,
        content: FeedContent = .generated
    ) {
        var generator = content.generator(seed: seed)
        people = (0..<count).map { _ in generator.person() }
        self.generator = generator
        self.posts = posts
        table = ZipfTable(count: count)
        random = SplitMix64(state: seed ^ 0x5EED)
    }

    /// Returns a feed that was not returned before.
    package mutating func next() -> Feed {
        var random = random
        let feed = generator.feed(number: number, posts: posts) { [people, table] _ in
            people[table.draw(&random)]
        }
        self.random = random
        number += 1
        return Feed(feed)
    }
}
