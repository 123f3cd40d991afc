import EspalierModels
import EspalierTestSupport

/// Creates random trees of plants.
struct Gardener {
    private static let identifiers = 10
    var random: SeededGenerator

    private mutating func choose(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private static func make(_ kind: Int, _ content: PlantContent) -> any Plant {
        switch kind {
        case 0, 1: Herb(content)
        case 2, 3: Oak(content)
        case 4: Vine(content)
        default: Bud(content)
        }
    }

    // MARK: Arbitrary trees

    /// Returns any tree: the same identifier may occur several times with different content, and
    /// inside itself.
    ///
    /// With a `minimum`, identifiers grow on the way down: no node is then inside itself, whichever
    /// node replaces which.
    mutating func wildTree(depth: Int = 4, minimum: Int? = nil) -> any Plant {
        var content = PlantContent(value: choose(3), other: choose(3))
        let number = minimum.map { $0 + choose(3) } ?? choose(Self.identifiers)
        if choose(5) > 0, number < Self.identifiers { content.id = "\(number)" }
        if depth > 0 {
            let child = { (gardener: inout Gardener) -> any Plant in
                gardener.wildTree(depth: depth - 1, minimum: minimum.map { _ in number + 1 })
            }
            content.list = (0..<choose(4)).map { _ in child(&self) }
            if choose(3) == 0 { content.best = child(&self) }
            if choose(4) == 0 { content.need = child(&self) }
        }
        return Self.make(choose(6), content)
    }

    // MARK: Consistent trees

    /// Returns a tree that says the same of each identifier, whatever the type: the content follows
    /// from the identifier and a seed.
    mutating func tameTree() -> any Plant {
        let seed = random.next()
        return Self.tame(Int.random(in: 0..<Self.identifiers, using: &random), choose(6), seed)
    }

    private static func tame(_ number: Int, _ kind: Int, _ seed: UInt64) -> any Plant {
        var own = Gardener(
            random: SeededGenerator(quietly: seed ^ UInt64(number) &* 0x1234_5678_9ABC_DEF1))
        var content = PlantContent(id: "\(number)", value: own.choose(3), other: own.choose(3))
        let child = { (gardener: inout Gardener) -> (any Plant)? in
            let next = number + 1 + gardener.choose(4)
            guard next < identifiers else { return nil }
            let plant = tame(next, gardener.choose(6), seed)
            // Sometimes below a plant without identifier.
            return gardener.choose(4) > 0
                ? plant : make(gardener.choose(6), PlantContent(value: next, list: [plant]))
        }
        content.list = (0..<own.choose(3)).compactMap { _ in child(&own) }
        if own.choose(3) == 0 { content.best = child(&own) }
        if own.choose(4) == 0 { content.need = child(&own) }
        return make(kind, content)
    }

    mutating func identifier() -> String { "\(choose(Self.identifiers))" }
    mutating func step() -> Int { choose(20) }
    mutating func place(_ count: Int) -> Int { choose(count) }
}
