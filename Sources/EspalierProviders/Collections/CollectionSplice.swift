/// An edit of a list: the elements of a range give way to so many others.
struct CollectionSplice: Sendable, Hashable {
    let range: Range<Int>
    let count: Int

    /// Where an element is afterwards; nil if it was taken out.
    func moved(_ index: Int) -> Int? {
        if index < range.lowerBound { return index }
        return index < range.upperBound ? nil : index + count - range.count
    }

    /// What was put in, by its places afterwards.
    var inserted: Range<Int> { range.lowerBound..<range.lowerBound + count }
}
