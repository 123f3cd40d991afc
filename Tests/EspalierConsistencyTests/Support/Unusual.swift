import EspalierModels
import Foundation

/// Its `map` returns another type, and visits no children.
struct WrongMap: ConsistencyManagerModel {
    let leaf: Leaf
    var modelIdentifier: String? { "wrong" }
    func map(_ transform: (Child) -> Child?) -> Child? { Leaf(nil) }
    func forEach(_ visit: (Child) -> Void) { visit(leaf) }
    func isEqualToModel(_ other: Child) -> Bool { (other as? WrongMap)?.leaf == leaf }
}

/// Its `map` returns another type after visiting the children.
struct WrongAfterAsking: ConsistencyManagerModel {
    let leaf: Leaf
    var modelIdentifier: String? { "wrong" }
    func map(_ transform: (Child) -> Child?) -> Child? { transform(leaf) as? Leaf }
    func forEach(_ visit: (Child) -> Void) { visit(leaf) }
    func isEqualToModel(_ other: Child) -> Bool { (other as? WrongAfterAsking)?.leaf == leaf }
}

/// Its `map` visits the children in the reverse order of `forEach`.
struct Backwards: ConsistencyManagerModel {
    let id: String?
    let items: [Child]
    var modelIdentifier: String? { id }
    func map(_ transform: (Child) -> Child?) -> Child? {
        Backwards(id: id, items: Array(items.reversed().compactMap(transform).reversed()))
    }
    func forEach(_ visit: (Child) -> Void) { items.forEach(visit) }
    func isEqualToModel(_ other: Child) -> Bool {
        guard let other = other as? Backwards else { return false }
        return id == other.id && items.elementsEqual(other.items) { $0.isEqualToModel($1) }
    }
}

/// Equal to any model with its identifier and value, whatever the children.
struct Shallow: ConsistencyManagerModel {
    let id: String
    let value: Int
    let items: [Child]
    var modelIdentifier: String? { id }
    func map(_ transform: (Child) -> Child?) -> Child? {
        Shallow(id: id, value: value, items: items.compactMap(transform))
    }
    func forEach(_ visit: (Child) -> Void) { items.forEach(visit) }
    func isEqualToModel(_ other: Child) -> Bool {
        (other as? Shallow).map { $0.id == id && $0.value == value } ?? false
    }
}

/// The number of calls of `map`, by name.
final class CallCounter: @unchecked Sendable {
    // `@unchecked`: the counts are accessed only under the lock. The thread sanitizer does not know
    // `Mutex`.
    private let lock = NSLock()
    private var counts: [String: Int] = [:]

    func add(_ name: String) { lock.withLock { counts[name, default: 0] += 1 } }

    func removeCounts() -> [String: Int] {
        lock.withLock {
            defer { counts = [:] }
            return counts
        }
    }
}

/// Counts the calls of its `map` under `name`, and those of its `forEach` if there is a counter for
/// them.
struct Counted: ConsistencyManagerModel {
    let name: String
    let id: String?
    var value = 0
    var items: [Child] = []
    let counter: CallCounter
    var walks: CallCounter?

    var modelIdentifier: String? { id }
    func map(_ transform: (Child) -> Child?) -> Child? {
        counter.add(name)
        var copy = self
        copy.items = items.compactMap(transform)
        return copy
    }
    func forEach(_ visit: (Child) -> Void) {
        walks?.add(name)
        items.forEach(visit)
    }
    func isEqualToModel(_ other: Child) -> Bool {
        guard let other = other as? Counted else { return false }
        return id == other.id && value == other.value
            && items.elementsEqual(other.items) { $0.isEqualToModel($1) }
    }
}
