import EspalierModels

/// A model with every difficulty: a list, an optional child and a required one, each of any of
/// these types.
protocol Plant: ConsistencyManagerModel, CustomStringConvertible {
    var content: PlantContent { get }
    init(_ content: PlantContent)
}

struct PlantContent {
    var id: String?
    var value = 0
    var other = 0
    var list: [any Plant] = []
    var best: (any Plant)?
    var need: (any Plant)?

    func isSame(as content: PlantContent) -> Bool {
        id == content.id && value == content.value && other == content.other
            && list.elementsEqual(content.list) { EspalierConsistencyTests.isSame($0, $1) }
            && EspalierConsistencyTests.isSame(best, content.best)
            && EspalierConsistencyTests.isSame(need, content.need)
    }

    func forEach(_ visit: (Child) -> Void) {
        list.forEach { visit($0) }
        if let best { visit(best) }
        if let need { visit(need) }
    }

    func mapped(_ transform: (Child) -> Child?) -> PlantContent? {
        var new = self
        new.list = list.compactMap { transform($0) as? any Plant }
        new.best = best.flatMap { transform($0) as? any Plant }
        new.need = need.flatMap { transform($0) as? any Plant }
        return need != nil && new.need == nil ? nil : new
    }

    /// Starts at the end, and stops at a required child that was deleted.
    func mappedBackwards(_ transform: (Child) -> Child?) -> PlantContent? {
        var new = self
        new.need = need.flatMap { transform($0) as? any Plant }
        if need != nil && new.need == nil { return nil }
        new.best = best.flatMap { transform($0) as? any Plant }
        new.list = Array(list.reversed().compactMap { transform($0) as? any Plant }.reversed())
        return new
    }
}

extension Plant {
    var description: String {
        var parts = content.list.map(\.description)
        if let best = content.best { parts.append("best \(best.description)") }
        if let need = content.need { parts.append("need \(need.description)") }
        let children = parts.joined(separator: ", ")
        return "\(Self.self) \(content.id ?? "-")=\(content.value).\(content.other)(\(children))"
    }

    var modelIdentifier: String? { content.id }
    func map(_ transform: (Child) -> Child?) -> Child? {
        content.mapped(transform).map { Self($0) }
    }
    func forEach(_ visit: (Child) -> Void) { content.forEach(visit) }
    func isEqualToModel(_ other: Child) -> Bool {
        (other as? Self).map { $0.content.isSame(as: content) } ?? false
    }

    /// Takes everything of its own type, the value of a `Bud`, and everything but `other` of the
    /// rest.
    func mergeModel(_ model: Child) -> Child {
        if model is Self { return model }
        guard var content = (model as? any Plant)?.content else { return self }
        if self is Bud || model is Bud {
            var merged = self.content
            merged.value = content.value
            return Self(merged)
        }
        content.other = self.content.other
        return Self(content)
    }
}

struct Herb: Plant {
    let content: PlantContent
    init(_ content: PlantContent) { self.content = content }
}

final class Oak: Plant {
    let content: PlantContent
    init(_ content: PlantContent) { self.content = content }
}

/// Its `map` visits the children in reverse.
struct Vine: Plant {
    let content: PlantContent
    init(_ content: PlantContent) { self.content = content }
    func map(_ transform: (Child) -> Child?) -> Child? {
        content.mappedBackwards(transform).map { Vine($0) }
    }
}

/// Contains the value only.
struct Bud: Plant {
    let content: PlantContent
    init(_ content: PlantContent) { self.content = content }
}
