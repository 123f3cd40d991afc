import EspalierRecords

/// A change of a collection, its models flattened. Indexes count the elements that are there: those
/// whose own node was deleted are not.
enum FlattenedEdit: Sendable {
    case replace([ValueDraft])
    case insert([ValueDraft], at: Int)
    /// Makes the collection if there is none.
    case append([ValueDraft])
    case update(ValueDraft, at: Int)
    case remove(Range<Int>)
    case move(from: Int, to: Int)

    /// Whether it takes no account of what is stored.
    var isReplacing: Bool {
        if case .replace = self { true } else { false }
    }

    /// Whether it makes a collection that is not there.
    var makesCollection: Bool {
        switch self {
        case .replace, .append: true
        case .insert, .update, .remove, .move: false
        }
    }

    /// The place of the edit in a collection of `count` elements, which a sender's neighbours are
    /// around; nil where it has none.
    func place(in count: Int) -> Int? {
        switch self {
        case .insert(_, let index): (0...count).contains(index) ? index : nil
        case .append: count
        case .update(_, let index): (0..<count).contains(index) ? index : nil
        case .remove(let range): (0..<count).contains(range.lowerBound) ? range.lowerBound : nil
        case .replace, .move: nil
        }
    }
}
