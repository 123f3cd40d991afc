import EspalierConsistency
import EspalierModels

/// A collection as the consistency manager sees it: a tree whose root has no identifier. A deleted
/// element is left out.
struct CollectionModel<T: SimpleModel>: ListModel {
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

    var childCount: Int { elements.count }

    func child(at place: Int) -> any ConsistencyManagerModel { elements[place] }

    func replacing(_ children: [Int: (any ConsistencyManagerModel)?]) -> any ConsistencyManagerModel
    {
        var new = elements
        var isShorter = false
        for (place, child) in children {
            if let child = child as? T { new[place] = child } else { isShorter = true }
        }
        guard isShorter else { return CollectionModel(elements: new) }
        return CollectionModel(
            elements: new.indices.filter { children[$0].map { $0 is T } ?? true }.map { new[$0] })
    }

    func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool {
        guard let other = other as? CollectionModel else { return false }
        return areEqual(elements, other.elements)
    }
}

/// Whether two lists show the same: a comparison of all their trees.
func areEqual<T: SimpleModel>(_ a: [T], _ b: [T]) -> Bool {
    guard a.count == b.count else { return false }
    return zip(a, b).allSatisfy { $0.isEqualToModel($1) }
}
