import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("Elements of arrays that are taken from a tree in memory", .serialized)
struct ReusedRunTests {
    @Test(
        "Arrays whose elements move, repeat and change are read as they were written",
        arguments: 1...20 as ClosedRange<UInt64>)
    func arrays(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await withCache { cache in
            var texts = (0..<30).map { "text \($0)" }
            var wanted = WantedGrid(id: 0, cards: Array(0..<20), top: nil, rows: [])
            func card(_ id: Int) -> GridCard {
                GridCard(
                    id: id, text: texts[id], label: GridLabel(id: id / 3, text: texts[id / 3]))
            }
            func grid() -> CardGrid {
                CardGrid(
                    id: wanted.id, cards: wanted.cards.map(card), top: wanted.top.map(card),
                    rows: wanted.rows.map { $0.map(card) })
            }
            try await cache.set(grid()).committed
            for round in 0..<60 {
                if wanted.change(using: &random) {
                    try await cache.set(grid()).committed
                } else {
                    let number = Int.random(in: 0..<30, using: &random)
                    texts[number] += "+"
                    try await cache.set(card(number)).committed
                    try await cache.set(GridLabel(id: number, text: texts[number])).committed
                }
                #expect(try await cache.hit().value == grid())
                if round % 20 == 19 { cache.trimMemory() }
            }
        }
    }

    @Test("What follows an array is not taken for its elements")
    func end() async throws {
        try await withCache { cache in
            func card(_ id: Int) -> GridCard {
                GridCard(id: id, text: "text", label: GridLabel(id: id, text: "label"))
            }
            func grid(_ cards: [Int], _ top: Int?, _ rows: [[Int]]) -> CardGrid {
                CardGrid(
                    id: 0, cards: cards.map(card), top: top.map(card),
                    rows: rows.map { $0.map(card) })
            }
            let grids = [
                grid([0, 1, 2], 3, [[4], [5, 6]]), grid([0, 1], 2, [[3, 4], [5, 6]]),
                grid([0], 1, [[2, 3, 4, 5], []]), grid([], 0, [[], [1, 2], [3]]),
            ]
            for round in 0..<8 {
                let grid = grids[round % 4]
                try await cache.set(grid).committed
                #expect(await cache.read(CardGrid.self, "CardGrid:0") == grid)
            }
        }
    }

    @Test("A tree of as many nodes as are allowed is read whose elements are taken")
    func limit() async throws {
        var configuration = Configuration.forTests
        // The grid, and 20 cards with a label each.
        configuration.limits.maximumNodes = 41
        try await withCache(configuration) { cache in
            let cards = (0..<20).map {
                GridCard(id: $0, text: "text", label: GridLabel(id: $0, text: "label"))
            }
            try await cache.set(CardGrid(id: 0, cards: cards, top: nil, rows: [])).committed
            for text in ["a", "b", "c", "d"] {
                try await cache.set(GridLabel(id: 9, text: text)).committed
                let hit = try await cache.hit()
                #expect(hit.value.cards[9].label.text == text)
                #expect(hit.recordCount == 41)
            }
        }
    }
}

extension NormalizedCache {
    fileprivate func hit() async throws -> Hit<CardGrid> {
        guard case .hit(let hit) = await readOutcome(CardGrid.self, "CardGrid:0") else {
            throw CacheError(.notFound, "the grid")
        }
        return hit
    }
}

/// What the test wants to store, by the numbers of the cards.
private struct WantedGrid {
    let id: Int
    var cards: [Int]
    var top: Int?
    var rows: [[Int]]

    /// Changes the grid, or returns false, at random.
    mutating func change(using random: inout SeededGenerator) -> Bool {
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            let count = Int.random(in: 0..<25, using: &random)
            cards = (0..<count).map { _ in Int.random(in: 0..<30, using: &random) }
        case 1:
            guard let last = cards.popLast() else { return false }
            cards.insert(last, at: 0)
        case 2: top = Bool.random(using: &random) ? cards.last : 29
        case 3:
            let half = cards.count / 2
            rows = [Array(cards[half...]), Array(cards[..<half])]
        default: return false
        }
        return true
    }
}

private struct CardGrid: NormalizedModel, Equatable {
    let id: Int
    let cards: [GridCard]
    let top: GridCard?
    let rows: [[GridCard]]
    var modelIdentifier: String? { "CardGrid:\(id)" }

    init(id: Int, cards: [GridCard], top: GridCard?, rows: [[GridCard]]) {
        self.id = id
        self.cards = cards
        self.top = top
        self.rows = rows
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        cards = try decoder.decode(forKey: "cards")
        top = try decoder.decode(forKey: "top")
        rows = try decoder.decode(forKey: "rows")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(cards, forKey: "cards")
        try encoder.encode(top, forKey: "top")
        try encoder.encode(rows, forKey: "rows")
    }
}

private struct GridCard: NormalizedModel, Equatable {
    let id: Int
    let text: String
    let label: GridLabel
    var modelIdentifier: String? { "GridCard:\(id)" }

    init(id: Int, text: String, label: GridLabel) {
        self.id = id
        self.text = text
        self.label = label
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        label = try decoder.decode(forKey: "label")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(label, forKey: "label")
    }
}

private struct GridLabel: NormalizedModel, Equatable, Codable {
    let id: Int
    let text: String
    var modelIdentifier: String? { "GridLabel:\(id)" }
}
