import EspalierModels

/// A final class with a list of children and a required child.
final class Page: ConsistencyManagerModel, Equatable {
    let id: String?
    let value: Int
    let children: [Page]
    let leaf: Leaf

    init(_ id: String?, _ value: Int = 0, _ children: [Page] = [], leaf: Leaf = Leaf(nil)) {
        self.id = id
        self.value = value
        self.children = children
        self.leaf = leaf
    }

    var modelIdentifier: String? { id }

    func map(_ transform: (Child) -> Child?) -> Child? {
        let children = children.compactMap { transform($0) as? Page }
        guard let leaf = transform(leaf) as? Leaf else { return nil }
        return Page(id, value, children, leaf: leaf)
    }

    func forEach(_ visit: (Child) -> Void) {
        children.forEach(visit)
        visit(leaf)
    }

    static func == (a: Page, b: Page) -> Bool {
        a.id == b.id && a.value == b.value && a.children == b.children && a.leaf == b.leaf
    }
}
