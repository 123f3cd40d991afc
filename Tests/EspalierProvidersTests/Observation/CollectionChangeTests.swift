import EspalierProviders
import EspalierTestSupport
import Testing

@Suite("The steps of a collection's change are consistent")
struct CollectionChangeTests {
    @Test("Steps are counted by kind")
    func counting() {
        let steps: [CollectionChangeInformation] = [
            .insert(index: 0), .delete(index: 1), .update(index: 0), .insert(index: 2),
        ]
        #expect(steps.numberOfInsertedElements() == 2 && steps.numberOfDeletedElements() == 1)
        #expect(steps.deltaNumberOfElements() == 1)
        #expect([CollectionChangeInformation]().deltaNumberOfElements() == 0)
    }

    @Test("Changes are equal if their steps are equal")
    func equality() {
        #expect(CollectionChange.reset == .reset && .changes([]) != CollectionChange.reset)
        #expect(CollectionChange.changes([.insert(index: 1)]) == .changes([.insert(index: 1)]))
        #expect(CollectionChange.changes([.insert(index: 1)]) != .changes([.delete(index: 1)]))
    }

    @Test("The difference of a reset replaces all elements")
    func reset() {
        let difference = CollectionChange.reset.difference(from: [1, 2], to: [2, 3, 4])
        #expect(difference.removals.count == 2 && difference.insertions.count == 3)
        #expect([1, 2].applying(difference) == [2, 3, 4])
    }

    @Test("The difference of steps that do not fit the collections replaces all elements")
    func mismatch() {
        for change in [
            CollectionChange.changes([.delete(index: 9)]), .changes([.insert(index: -1)]),
            .changes([]),
        ] {
            #expect(
                [1, 2].applying(change.difference(from: [1, 2], to: [3, 4, 5])) == [3, 4, 5])
        }
    }

    @Test(
        "The difference of steps leads from the old collection to the new one",
        arguments: 0..<200 as Range<UInt64>)
    func random(_ seed: UInt64) {
        var random = SeededGenerator(quietly: seed)
        let old = Array(0..<Int.random(in: 0..<8, using: &random))
        var new = old
        var steps: [CollectionChangeInformation] = []
        for number in 0..<Int.random(in: 0..<12, using: &random) {
            switch Int.random(in: 0..<3, using: &random) {
            case 0 where !new.isEmpty:
                let index = Int.random(in: 0..<new.count, using: &random)
                new[index] = 100 + number
                steps.append(.update(index: index))
            case 1 where !new.isEmpty:
                let index = Int.random(in: 0..<new.count, using: &random)
                new.remove(at: index)
                steps.append(.delete(index: index))
            default:
                let index = Int.random(in: 0...new.count, using: &random)
                new.insert(100 + number, at: index)
                steps.append(.insert(index: index))
            }
        }
        let difference = CollectionChange.changes(steps).difference(from: old, to: new)
        #expect(old.applying(difference) == new)
        let kept = old.count { new.contains($0) }
        #expect(
            difference.removals.count == old.count - kept
                && difference.insertions.count == new.count - kept)
    }
}
