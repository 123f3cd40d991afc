import EspalierRecords

/// A change of a collection, its models flattened. Indexes count the elements that are there: those whose own node was deleted
/// are not.
enum FlattenedEdit: Sendable {
    case replace([ValueDraft])
    case insert([ValueDraft], at: Int)
    /// Makes the collection if there is none.
    case append([ValueDraft])
    case update(ValueDraft, at: Int)
    case remove(Range<Int>)
    case move(from: Int, to: Int)
}
