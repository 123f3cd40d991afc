import EspalierModels

/// A collection as the consistency manager sees it: a tree whose root has no identifier. A deleted element is left out.
struct CollectionModel<T: SimpleModel>: ConsistencyManagerModel {
    let elements: [T]

    var modelIdentifier: String? { nil }

    func map(
        _ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)? {
        CollectionModel(elements: elements.compactMap { transform($0) as? T })
    }

    func forEach(_ visit: (any ConsistencyManagerModel) -> Void) {
        for element in elements { visit(element) }
    }

    func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool {
        guard let other = other as? CollectionModel else { return false }
        return elements.count == other.elements.count
            && zip(elements, other.elements).allSatisfy { $0.isEqualToModel($1) }
    }
}
