import EspalierModels

/// A value with a list of children and an optional child, of any types.
struct Shelf: ConsistencyManagerModel {
    let id: String?
    var value = 0
    var items: [Child]
    var best: Child?

    init(_ id: String?, _ value: Int = 0, _ items: [Child] = [], best: Child? = nil) {
        self.id = id
        self.value = value
        self.items = items
        self.best = best
    }

    var modelIdentifier: String? { id }

    func map(_ transform: (Child) -> Child?) -> Child? {
        Shelf(id, value, items.compactMap(transform), best: best.flatMap(transform))
    }

    func forEach(_ visit: (Child) -> Void) {
        items.forEach(visit)
        if let best { visit(best) }
    }

    func isEqualToModel(_ other: Child) -> Bool {
        guard let other = other as? Shelf else { return false }
        return id == other.id && value == other.value
            && items.elementsEqual(other.items) { $0.isEqualToModel($1) }
            && isSame(best, other.best)
    }
}

/// Returns whether two optional models are equal.
func isSame(_ a: Child?, _ b: Child?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return type(of: a) == type(of: b) && a.isEqualToModel(b)
}
