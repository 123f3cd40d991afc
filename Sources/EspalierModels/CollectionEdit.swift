/// One edit of a collection: `elements` take the place of the elements in `range`.
///
/// The same value describes an edit on its way from a data provider through the index of the
/// consistency manager to the cache:
///
/// ```swift
/// let edit: CollectionEdit<any SimpleModel> = .insert([message], at: 0)
/// ```
///
/// Every edit carries its new elements only, so it costs the edit and not the collection. An edit
/// does not know the collection that it is made for: the receiver checks `range`.
public struct CollectionEdit<Element> {
    /// The elements that go: empty for an insertion. Nil stands for the empty range at the end of
    /// the collection, however long it is.
    public let range: Range<Int>?
    /// The elements that come in their place.
    public let elements: [Element]

    /// Creates an edit that puts `elements` in place of those in `range`.
    ///
    /// - Parameters:
    ///   - range: The indexes before the edit; `nil` for the end of the collection.
    ///   - elements: The new elements, in their order.
    public init(range: Range<Int>?, elements: [Element]) {
        self.range = range
        self.elements = elements
    }

    /// Returns an edit that inserts `elements` before the element at `index`.
    ///
    /// - Parameters:
    ///   - elements: The new elements, in their order. An empty array changes nothing.
    ///   - index: An index between 0 and the number of elements. The latter adds at the end, but
    ///     unlike `append` does not create a missing collection.
    public static func insert(_ elements: [Element], at index: Int) -> Self {
        Self(range: index..<index, elements: elements)
    }

    /// Returns an edit that adds `elements` after the last element, and creates a collection that
    /// does not exist.
    public static func append(_ elements: [Element]) -> Self {
        Self(range: nil, elements: elements)
    }

    /// Returns an edit that puts `element` in place of the one at `index`.
    ///
    /// - Parameters:
    ///   - element: The new element.
    ///   - index: The position of the element to replace, from 0.
    public static func update(_ element: Element, at index: Int) -> Self {
        Self(range: range(at: index), elements: [element])
    }

    /// Returns an edit that removes the elements in `range` from the collection. In a cache, the
    /// models of these elements stay stored.
    public static func remove(_ range: Range<Int>) -> Self { Self(range: range, elements: []) }

    /// Returns an edit that removes the element at `index` from the collection. In a cache, the
    /// model of the element stays stored.
    public static func remove(at index: Int) -> Self { remove(range(at: index)) }

    /// No index follows `Int.max`, which lies outside every collection: so does the empty range
    /// there.
    private static func range(at index: Int) -> Range<Int> {
        index..<(index < .max ? index + 1 : index)
    }

    /// Returns the edit of the same range with each element transformed.
    ///
    /// - Parameter transform: Called once for each element, in order.
    /// - Throws: The error that `transform` throws.
    /// - Complexity: O(*n*), where *n* is the number of new elements.
    public func map<T>(_ transform: (Element) throws -> T) rethrows -> CollectionEdit<T> {
        CollectionEdit<T>(range: range, elements: try elements.map(transform))
    }
}

extension CollectionEdit: Sendable where Element: Sendable {}
extension CollectionEdit: Equatable where Element: Equatable {}

/// The elements around the place of an edit in the sender's list, before the edit. A cache compares
/// them with its own to tell whether both have the same list.
///
/// In a list with the identifiers `a`, `b` and `c`, an edit at index 1 expects `count: 3, previous:
/// "a", current: "b", next: "c"`. An append, whose index is 3, expects `count: 3, previous: "c",
/// current: nil, next: nil`. Identifiers are compared byte by byte.
public struct CollectionNeighbours: Sendable, Hashable {
    /// The number of elements in the sender's list.
    public let count: Int
    /// The `modelIdentifier` of the element before the index; `nil` if there is no such element or
    /// if it has no identifier.
    public let previous: String?
    /// The `modelIdentifier` of the element at the index; `nil` as for `previous`.
    public let current: String?
    /// The `modelIdentifier` of the element after the index; `nil` as for `previous`.
    public let next: String?

    /// Creates a description of the neighbours from the sender's list.
    ///
    /// - Parameters:
    ///   - count: The number of elements.
    ///   - previous: The identifier of the element before the index, if any.
    ///   - current: The identifier of the element at the index, if any.
    ///   - next: The identifier of the element after the index, if any.
    public init(count: Int, previous: String?, current: String?, next: String?) {
        self.count = count
        self.previous = previous
        self.current = current
        self.next = next
    }
}

/// The result of an edit of a cached collection.
///
/// After any outcome but `.applied`, the stored collection differs from the sender's list, and
/// further edits would be out of date. The sender then sets the whole collection, at once or before
/// its next edit.
public enum CollectionEditOutcome: Sendable {
    /// The cache has applied the edit.
    case applied
    /// The cache has another collection than the sender expected, or none. It changed nothing.
    case outOfDate
    /// The edit could not be written, and the cache changed nothing: it is full or closed, or a
    /// model cannot be stored.
    case failed(any Error)
}
