import EspalierLMDB
import EspalierModels
public import EspalierRecords

// Lists of what is stored, for screens that show everything, for tools and for clean-up. They count
// neither as accesses nor as hits.
extension NormalizedCache {
    /// Returns the identifiers of the stored nodes of a type, page by page. Blocks the calling
    /// thread.
    ///
    /// ```swift
    /// var page = try cache.identifiers(of: Person.self, limit: 100)
    /// while let last = page.last {
    ///     page.forEach { print($0) }
    ///     page = try cache.identifiers(of: Person.self, limit: 100, after: last)
    /// }
    /// ```
    ///
    /// These are the identifiers with the type's prefix, whichever type has written them. They are
    /// in the order of their bytes. In an encrypted cache they are in no order, but in the same one
    /// for each page.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - limit: The most identifiers.
    ///   - previous: The last identifier of the page before; nil for the first page.
    /// - Returns: The identifiers; an empty array behind the last one.
    /// - Throws: A ``CacheError``: `closed` when the cache is closed, `waitInsideRead` inside a
    ///   read, `storage` or `damaged` when the files can't be read.
    /// - Complexity: O(*n*) in the identifiers of the page, with a record read for each. In an
    ///   encrypted cache O(*n*) in its records.
    public func identifiers<Model: NodeModel>(
        of type: Model.Type, limit: Int = .max, after previous: String? = nil
    ) throws(CacheError) -> [String] {
        try list {
            try $0.identifiers(
                startingWith: type.identifierPrefix, after: previous, limit: limit)
        }
    }

    /// Returns the stored nodes of a type one after the other, each with everything below it.
    ///
    /// ```swift
    /// for try await person in cache.all(Person.self) { print(person.name) }
    /// ```
    ///
    /// Nodes that this type can't read are left out. The sequence reads the nodes in pages, each in
    /// a snapshot of its own, so a write meanwhile may or may not be seen. It does not change what
    /// is evicted next. It ends with `CancellationError` if its task is cancelled.
    ///
    /// - Parameter type: The type.
    /// - Returns: The nodes, in the order of ``identifiers(of:limit:after:)``.
    /// - Complexity: O(*n*) in the records of the trees. Holds a page of 64 nodes in memory.
    public func all<Model: NodeModel>(_ type: Model.Type) -> StoredNodes<Model> {
        StoredNodes(cache: self)
    }

    func list<R>(
        _ consistency: Consistency = .latest, _ body: (SnapshotReader) throws -> R
    ) throws(CacheError) -> R {
        let limits = engine.configuration.limits
        do {
            return try withTransaction(consistency) { transaction, generation in
                try AppCodeScope.run {
                    try body(
                        SnapshotReader(
                            generation: generation, snapshot: transaction.snapshot, limits: limits))
                }
            }
        } catch {
            throw CacheError(error)
        }
    }
}

/// The stored nodes of a type, read page by page: what ``NormalizedCache/all(_:)`` returns.
///
/// Each iteration begins anew. Iterating throws a ``CacheError`` if the cache can't be read.
public struct StoredNodes<Model: NodeModel>: AsyncSequence, Sendable {
    fileprivate let cache: NormalizedCache

    /// The state of one iteration. Confined to the task that iterates.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let cache: NormalizedCache
        private var page: [Model] = []
        private var next = 0
        private var last: String?
        private var isAtEnd = false

        private static var pageSize: Int { 64 }

        fileprivate init(_ cache: NormalizedCache) { self.cache = cache }

        /// Returns the next node; nil behind the last one. Where a page begins, reads it on another
        /// thread.
        ///
        /// - Throws: A ``CacheError`` if the cache can't be read; `CancellationError` if the task
        ///   is cancelled while a page is read.
        public mutating func next() async throws -> Model? {
            while next == page.count, !isAtEnd {
                let (names, models) = try await Self.read(cache, after: last)
                (page, next) = (models, 0)
                last = names.last ?? last
                isAtEnd = names.count < Self.pageSize
            }
            guard next < page.count else { return nil }
            next += 1
            return page[next - 1]
        }

        private static func read(
            _ cache: NormalizedCache, after last: String?
        ) async throws -> ([String], [Model]) {
            let page = Resumption<Result<([String], [Model]), any Error>>()
            return try await withTaskCancellationHandler {
                cache.engine.runAfterEarlierWrites { isOpen in
                    page.resume(
                        Result {
                            guard isOpen else { throw CacheError.closed }
                            return try readNow(cache, after: last)
                        })
                }
                return try await page.value.get()
            } onCancel: {
                page.resume(.failure(CancellationError()))
            }
        }

        private static func readNow(
            _ cache: NormalizedCache, after last: String?
        ) throws -> ([String], [Model]) {
            try cache.list(.snapshot) { reader in
                let names = try reader.identifiers(
                    startingWith: Model.identifierPrefix, after: last, limit: pageSize)
                return (names, try names.compactMap { try reader.node(Model.self, $0).value })
            }
        }
    }

    /// Begins an iteration.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(cache) }
}

// MARK: - Names in a snapshot

extension SnapshotReader {
    /// Returns the identifiers of nodes that begin with a prefix, in the order of the index.
    ///
    /// - Parameters:
    ///   - previous: The identifier after which to begin; nil for the first.
    ///   - limit: The most identifiers.
    package func identifiers(
        startingWith prefix: String, after previous: String?, limit: Int
    ) throws -> [String] {
        let keyspaces = generation.keyspaces
        let stored = try StoredRecords(snapshot, generation, keepsBlocks: true)
        let last = previous.map { keyspaces.indexKey(.node, $0) }
        // The keys of an encrypted cache are hashes, so that all of them have to be looked at.
        let ranges =
            keyspaces.hidesNames ? [[]] : IndexKey.ranges(.node, startingWith: prefix)
        var found: [String] = []
        for range in ranges {
            guard found.count < limit else { break }
            var start = range
            if let last, range.lexicographicallyPrecedes(last) {
                // Long identifiers stand behind all others.
                guard last.starts(with: range) else { continue }
                start = last
            }
            try snapshot.forEachIndexEntry(keyspaces, from: start) { entry in
                guard entry.bytes.starts(with: range) || entry.matches(range) else {
                    // The first group begins before the range.
                    return entry.bytes.lexicographicallyPrecedes(range)
                }
                // The index may hold only the beginning of a name, so the record tells it.
                guard let record = try? stored.record(entry.handle), record.nameSpace == .node,
                    record.identifier.utf8.starts(with: prefix.utf8)
                else { return true }
                let key = keyspaces.indexKey(.node, record.identifier)
                guard last.map({ $0.lexicographicallyPrecedes(key) }) ?? true else { return true }
                found.append(record.identifier)
                return found.count < limit
            }
        }
        return found
    }
}
