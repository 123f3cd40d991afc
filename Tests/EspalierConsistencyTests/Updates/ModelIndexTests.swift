import EspalierModels
import EspalierTestSupport
import Testing

@testable import EspalierConsistency

@Suite("The index contains the trees of all listeners")
struct ModelIndexTests {
    @Test("Inserting and removing trees keeps the index valid")
    func randomTrees() {
        for seed in 0..<UInt64(50) {
            var gardener = Gardener(random: SeededGenerator(quietly: seed))
            let index = ModelIndex()
            var trees: [(root: ModelIndex.Slot, owner: ModelIndex.Owner)] = []
            var models: [Child] = []
            for step in 0..<40 {
                if !trees.isEmpty, gardener.step() < 8 {
                    let place = gardener.place(trees.count)
                    index.removeTree(at: trees.remove(at: place).root)
                    models.remove(at: place)
                } else {
                    let model = gardener.wildTree()
                    trees.append((index.insert(model, owner: UInt32(step + 1)), UInt32(step + 1)))
                    models.append(model)
                }
                #expect(index.violations(trees: trees) == [])
            }
            for (tree, model) in zip(trees, models) {
                let fresh = ModelIndex()
                #expect(
                    index.places(below: tree.root)
                        == fresh.places(below: fresh.insert(model, owner: 1)))
            }
            for tree in trees { index.removeTree(at: tree.root) }
            #expect(
                index.count == 0 && index.firstOccurrences.isEmpty
                    && index.violations(trees: []) == [])
        }
    }

    @Test("A lookup finds all occurrences of an identifier, of all owners, and no others")
    func occurrences() {
        let index = ModelIndex()
        let leaf = Leaf("x")
        for owner in UInt32(1)...3 {
            _ = index.insert(Shelf("s", 0, [leaf, Shelf(nil, 0, [leaf])]), owner: owner)
        }
        var owners: [UInt32] = []
        index.forEachOccurrence(of: NodeIdentifier("x")) { owners.append(index.owner(of: $0)) }
        #expect(owners.sorted() == [1, 1, 2, 2, 3, 3])
        index.forEachOccurrence(of: NodeIdentifier("y")) { _ in Issue.record("there is no y") }
    }

    /// Returns the violations in an index of two trees that `body` has broken.
    private func violations(_ body: (ModelIndex, ModelIndex.Slot) -> Void) -> [String] {
        let index = ModelIndex()
        let trees = [UInt32(1), 2].map { owner in
            (root: index.insert(Shelf("s", 0, [Leaf("a"), Leaf("b")]), owner: owner), owner: owner)
        }
        #expect(index.violations(trees: trees) == [])
        body(index, trees[0].root)
        return index.violations(trees: trees)
    }

    @Test("Each check of the index finds the violation that it is for")
    func canaries() {
        let breakages: [(String, (ModelIndex, ModelIndex.Slot) -> Void)] = [
            ("has a parent", { $0[$1].parent = 2 }),
            ("another parent", { index, root in index[index[root].firstChild].parent = 6 }),
            ("another owner", { $0[$1].ownerAndMarks = 2 }),
            ("is marked", { $0.markPath(to: $1) }),
            ("is marked", { $0.markChanged($1) }),
            (
                "in two places",
                { index, root in index[index[index[root].firstChild].nextSibling].nextSibling = 5 }
            ),
            ("are counted", { index, root in index[root].firstChild = ModelIndex.none }),
            (
                "neither free nor in use",
                { index, root in index[root].firstChild = ModelIndex.none }
            ),
            ("another hash's list", { $0[$1].identifierHash = 1 }),
            ("another predecessor", { $0[$1].previousOccurrence = 3 }),
            ("have identifiers", { index, root in index[4].nextOccurrence = ModelIndex.none }),
            ("free and in use", { index, root in index.removeTree(at: index[root].firstChild) }),
        ]
        for (finding, breakage) in breakages {
            let found = violations(breakage)
            #expect(found.contains { $0.contains(finding) }, "\(finding): \(found)")
        }
    }
}
