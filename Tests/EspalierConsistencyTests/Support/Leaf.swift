import EspalierModels

typealias Child = any ConsistencyManagerModel

/// A node without children.
struct Leaf: ConsistencyManagerModel, Equatable {
    let id: String?
    var value: Int

    init(_ id: String?, _ value: Int = 0) {
        self.id = id
        self.value = value
    }

    var modelIdentifier: String? { id }

    func map(_ transform: (Child) -> Child?) -> Child? { self }
    func forEach(_ visit: (Child) -> Void) {}
}
