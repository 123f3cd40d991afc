import EspalierConsistency
import EspalierModels

/// The steps that lead from one list of models to another, by their identifiers: as many elements
/// as possible stay in place.
///
/// The elements that stay are the longest increasing subsequence of old places in the new order
/// (Hunt and Szymanski 1977, with patience sorting). `CollectionDifference` finds the same for
/// distinct elements, but takes time that grows with the product of length and difference: seconds
/// on the main actor for two long lists that have little in common.
struct ListDifference<T: SimpleModel> {
    /// The steps, to be applied one by one: deletions from the last place to the first, then
    /// insertions from the first to the last, then updates of elements that stayed and changed.
    let steps: [CollectionChangeInformation]

    /// - Complexity: O(*n* log *n*) in the lengths, and a comparison of the elements that stay.
    init(from old: [T], to new: [T]) {
        let kept = Self.longestIncrease(in: Self.oldPlaces(of: new, in: old))
        let (keptOld, keptNew) = (Set(kept.map(\.old)), Set(kept.map(\.new)))
        var steps: [CollectionChangeInformation] = []
        for place in old.indices.reversed() where !keptOld.contains(place) {
            steps.append(.delete(index: place))
        }
        for place in new.indices where !keptNew.contains(place) {
            steps.append(.insert(index: place))
        }
        for pair in kept where !old[pair.old].isEqualToModel(new[pair.new]) {
            steps.append(.update(index: pair.new))
        }
        self.steps = steps
    }

    private typealias Pair = (old: Int, new: Int)

    /// Returns the places of elements that both lists have, in the order of the new list. The first
    /// occurrence of an identifier belongs to the first, the second to the second. Elements without
    /// identifier belong together likewise.
    private static func oldPlaces(of new: [T], in old: [T]) -> [Pair] {
        var places: [String?: ArraySlice<Int>] = [:]
        for (place, element) in old.enumerated() {
            places[element.modelIdentifier, default: []].append(place)
        }
        return new.enumerated().compactMap { place, element in
            places[element.modelIdentifier]?.popFirst().map { ($0, place) }
        }
    }

    /// Returns a longest part of `pairs` in which the old places increase.
    private static func longestIncrease(in pairs: [Pair]) -> [Pair] {
        // The pair that ends the increase of each length with the smallest old place.
        var ends: [Int] = []
        var before: [Int?] = []
        for (position, pair) in pairs.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if pairs[ends[middle]].old < pair.old { low = middle + 1 } else { high = middle }
            }
            before.append(low > 0 ? ends[low - 1] : nil)
            if low < ends.count { ends[low] = position } else { ends.append(position) }
        }
        var result: [Pair] = []
        var position = ends.last
        while let current = position {
            result.append(pairs[current])
            position = before[current]
        }
        return result.reversed()
    }
}

extension ElementMove {
    /// The steps of the move, for a view.
    var steps: [CollectionChangeInformation] {
        [.delete(index: source), .insert(index: destination)]
    }
}
