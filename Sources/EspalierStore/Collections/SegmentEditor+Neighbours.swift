import EspalierLMDB
import EspalierModels
import EspalierRecords

// What the sender of an edit expects is looked up, not read: an identifier leads to a handle by the
// index, in the clear, and the element refers to that handle or to another. So a neighbour costs
// the same however large its record is. Only an identifier too long for the index stands there as a
// hash; of it the record tells.
extension SegmentEditor {
    /// Whether the elements before, at and after `index` are those the sender has there. `index` is
    /// in the list, or its end.
    func has(
        _ neighbours: CollectionNeighbours, around index: Int,
        in transaction: inout WriteTransaction
    ) throws -> Bool {
        let range = max(0, index - 1)..<min(list.count, index + 2)
        let elements = try elements(range, in: transaction)
        let expected = [neighbours.previous, neighbours.current, neighbours.next]
        for (identifier, position) in zip(expected, index - 1...index + 1) {
            guard range.contains(position) else {
                if identifier != nil { return false }
                continue
            }
            guard try isNamed(elements[position - range.lowerBound], identifier, in: &transaction)
            else { return false }
        }
        return true
    }

    /// Whether the element refers to the record of `identifier`; of nil, whether it is a model
    /// without one.
    private func isNamed(
        _ element: StoredElement, _ identifier: String?, in transaction: inout WriteTransaction
    ) throws -> Bool {
        guard let identifier, let target = element.target else {
            return identifier == nil && element.target == nil
        }
        guard try commit.knownHandle(.node, identifier, in: &transaction) == target else {
            return false
        }
        guard IndexKey.isLong(identifier) else {
            // The name of a record that was lost is still there.
            return try transaction.contains(commit.keyspaces.nodes, target.rawValue)
        }
        return try commit.readableRecord(target, in: transaction)?.isNamed(identifier, in: .node)
            == true
    }

    private func elements(
        _ range: Range<Int>, in transaction: borrowing WriteTransaction
    ) throws -> [StoredElement] {
        var elements: [StoredElement] = []
        while elements.count < range.count,
            let place = list.locate(range.lowerBound + elements.count)
        {
            let rest = try read(place.segment, in: transaction).dropFirst(place.offset)
            elements += rest.prefix(range.count - elements.count)
        }
        return elements
    }
}
