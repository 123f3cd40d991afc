/// A change of an ordered list of models: what a sender tells a cache in place of the whole list.
///
/// `.insert([message], at: 0)` puts a message on top of a list, at the cost of the message. A list
/// that is not edited but replaced is set: `CacheDelegate.setCollection`. A value; use it on any
/// thread.
public enum CollectionEdit: Sendable {
    /// Puts models before the element at the index, in their order; at the number of elements it
    /// appends. None changes nothing.
    case insert([any SimpleModel], at: Int)
    /// Puts models after the last element. A list that is not there is made.
    case append([any SimpleModel])
    /// Puts a model in place of the element at the index, and stores its tree as setting it would.
    case update(any SimpleModel, at: Int)
    /// Takes the element at the index out; what it refers to stays stored.
    case remove(at: Int)
}

/// What the sender of an edit has around its place, before the edit: by this a cache tells whether
/// both have the same list.
///
/// Of a list with the identifiers `a`, `b`, `c`, an edit at index 1 expects `count: 3, previous:
/// "a", current: "b", next: "c"`, and an append, whose index is 3, `count: 3, previous: "c",
/// current: nil, next: nil`. Identifiers are compared byte by byte. A value; use it on any thread.
public struct CollectionNeighbours: Sendable, Hashable {
    /// How many elements the sender has.
    public let count: Int
    /// The `modelIdentifier` of the element before the index; nil where there is none, or it has no
    /// identifier.
    public let previous: String?
    /// That of the element at the index.
    public let current: String?
    /// That of the element after the index.
    public let next: String?

    public init(count: Int, previous: String?, current: String?, next: String?) {
        self.count = count
        self.previous = previous
        self.current = current
        self.next = next
    }
}

/// What became of an edit. A value; use it on any thread.
///
/// After anything but `.applied` the stored collection is not the sender's, and edits of it would
/// be of another list: the sender sends the whole collection, at once or before its next edit.
public enum CollectionEditOutcome: Sendable {
    /// The edit is in the stored collection.
    case applied
    /// The cache has another collection than the sender expected, or none. It has changed nothing.
    case outOfDate
    /// The edit could not be written, and nothing of it was: the cache is full or closed, or a
    /// model can't be stored.
    case failed(any Error)
}
