import Espalier

/// A tree of one fan-out: four levels of eight have 4,096 leaves.
final class Branch: ConsistencyManagerModel, Equatable {
    let id: Int
    let value: Int
    let branches: [Branch]
    var modelIdentifier: String? { "Branch:\(id)" }

    init(id: Int, value: Int, branches: [Branch]) {
        self.id = id
        self.value = value
        self.branches = branches
    }

    static func tree(_ number: inout Int, levels: Int, fanOut: Int, leaf: (Int) -> Int) -> Branch {
        number += 1
        let id = number
        guard levels > 0 else { return Branch(id: leaf(id), value: 0, branches: []) }
        return Branch(
            id: id, value: 0,
            branches: (0..<fanOut).map { _ in
                tree(&number, levels: levels - 1, fanOut: fanOut, leaf: leaf)
            })
    }

    func map(
        _ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)? {
        Branch(id: id, value: value, branches: branches.compactMap { transform($0) as? Branch })
    }

    func forEach(_ visit: (any ConsistencyManagerModel) -> Void) {
        for branch in branches { visit(branch) }
    }

    static func == (a: Branch, b: Branch) -> Bool {
        a === b || (a.id == b.id && a.value == b.value && a.branches == b.branches)
    }
}
