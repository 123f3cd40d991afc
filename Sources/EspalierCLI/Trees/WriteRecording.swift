import EspalierRecords
import EspalierStore

/// Submits writes to a cache and finds out what they changed.
struct WriteRecording {
    private let cache: NormalizedCache
    private let policy: WritePolicy
    private let changes: AsyncStream<ChangeSet>
    private let partSize: Int
    private let evictedBefore: Int
    private static let partsOfWrite = 4
    private var census = NodeCensus()
    private var tickets: [(ticket: WriteTicket, models: String)] = []
    private var modelCount = 0

    init(of cache: NormalizedCache, policy: WritePolicy) throws(CacheError) {
        self.cache = cache
        self.policy = policy
        changes = cache.changeSets()
        // A single write may take an eighth of the budget; records it replaces, and the index, have
        // to fit beside it.
        let statistics = try cache.statistics()
        partSize = statistics.budget.bytes / (8 * Self.partsOfWrite)
        evictedBefore = statistics.evictions.records
    }

    /// Stores the models, in as few writes as the budget allows: within one, an identity that
    /// occurs twice is written once, so that storing the same again changes nothing.
    mutating func set(_ document: ModelDocument) {
        let parts = document.parts(of: partSize)
        for range in parts {
            let part = Array(document.models[range])
            let name =
                parts.count == 1
                ? document.name
                : "\(document.name): models \(range.lowerBound) to \(range.upperBound - 1)"
            add(cache.set(part, policy: policy), part, as: name)
        }
    }

    mutating func setCollection(_ models: [JSONTree], forKey key: String)
        async throws(CommandFailure)
    {
        let name = "collection \(key)"
        guard models.reduce(0, { $0 + $1.byteEstimate }) > partSize * Self.partsOfWrite else {
            return add(cache.setCollection(models, forKey: key, policy: policy), models, as: name)
        }
        // More than one write may hold: the nodes in parts, then the collection with nothing but
        // references to them.
        let nodes = models.filter { $0.modelIdentifier != nil }
        set(ModelDocument(name: name, models: nodes))
        modelCount += models.count - nodes.count
        guard await areCommitted else { return }
        try requireStored(nodes, name)
        tickets.append((cache.setCollection(models.map(\.stub), forKey: key, policy: .merge), name))
    }

    /// Whether all went well up to now; if not, `finish` says what did not.
    private var areCommitted: Bool {
        get async {
            for (ticket, _) in tickets where (try? await ticket.committed) == nil { return false }
            return true
        }
    }

    /// Throws when some were evicted for the others: a reference would make an empty node of them.
    private func requireStored(_ nodes: [JSONTree], _ name: String) throws(CommandFailure) {
        let isStored: Bool
        let budget: ByteCount
        do {
            budget = try cache.statistics().budget
            isStored = try cache.inspect { inspection in
                try nodes.allSatisfy {
                    try inspection.handle(of: $0.modelIdentifier ?? "", in: .node) != nil
                }
            }
        } catch {
            throw CommandFailure("\(name): \(error)")
        }
        guard !isStored else { return }
        throw CommandFailure(
            """
            \(name): It does not fit in the budget of \(SizeArgument.formatted(budget.bytes)): some of its nodes were evicted \
            for others. espalier budget raises it.
            """)
    }

    mutating func setModel(_ model: JSONTree, forKey key: String) {
        add(cache.setModel(model, forKey: key, policy: policy), [model], as: "key \(key)")
    }

    private mutating func add(_ ticket: WriteTicket, _ models: [JSONTree], as name: String) {
        census.add(write: models)
        modelCount += models.count
        tickets.append((ticket, name))
    }

    /// Waits until everything is committed, and closes the cache. Throws what the first failed
    /// write failed for.
    consuming func finish() async throws(CommandFailure) -> WriteSummary {
        var failure: CommandFailure?
        for (ticket, models) in tickets {
            do {
                try await ticket.committed
            } catch {
                failure = failure ?? CommandFailure("\(models): \(error)")
            }
        }
        let evicted = (try? cache.statistics().evictions.records) ?? evictedBefore
        // Ends the sequence of changes.
        cache.close()
        if let failure { throw failure }
        var written: Set<Identifier> = []
        for await change in changes { written.formUnion(change.written.map(Identifier.init)) }
        return WriteSummary(
            models: modelCount, nodes: census.identifiers.count, written: written.count,
            contradictions: census.contradictions, evicted: max(0, evicted - evictedBefore))
    }
}

extension ModelDocument {
    /// Runs of models of about `size` bytes together; a larger one stands alone.
    fileprivate func parts(of size: Int) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        var bytes = 0
        for (index, model) in models.enumerated() {
            let next = model.byteEstimate
            if index > start, bytes + next > size {
                parts.append(start..<index)
                (start, bytes) = (index, 0)
            }
            bytes += next
        }
        if start < models.count { parts.append(start..<models.count) }
        return parts
    }
}
