import EspalierModels

// The minimal implementation of each protocol.

struct SmallestSimpleModel: SimpleModel {
    var modelIdentifier: String? { nil }
    func isEqual(to model: any SimpleModel) -> Bool { model is SmallestSimpleModel }
}

struct SmallestEquatableSimpleModel: SimpleModel, Equatable {
    let number: Int
    var modelIdentifier: String? { "SmallestEquatableSimpleModel" }
}

struct SmallestModel: Model {
    var modelIdentifier: String? { nil }
    func isEqual(to model: any Model) -> Bool { model is SmallestModel }
    func map(_ transform: (any Model) -> (any Model)?) -> SmallestModel? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

final class SmallestSelfModel: Model {
    let modelIdentifier: String?
    init(modelIdentifier: String?) { self.modelIdentifier = modelIdentifier }
    func isEqual(to model: any Model) -> Bool { model.modelIdentifier == modelIdentifier }
    func map(_ transform: (any Model) -> (any Model)?) -> Self? { self }
    func forEach(_ visit: (any Model) -> Void) {}
}

struct SmallestConsistencyManagerModel: ConsistencyManagerModel, Equatable {
    let number: Int
    let children: [Self]
    var modelIdentifier: String? { "\(number)" }

    func map(
        _ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)? {
        Self(number: number, children: children.compactMap { transform($0) as? Self })
    }

    func forEach(_ visit: (any ConsistencyManagerModel) -> Void) { children.forEach { visit($0) } }
}
