import EspalierRecords
import EspalierStore

/// Submits writes to a cache and finds out what they changed.
struct WriteRecording {
    private let cache: NormalizedCache
    private let policy: WritePolicy
    private let changes: AsyncStream<ChangeSet>
    private let partSize: Int
    private static let partsOfWrite = 4
    private var census = NodeCensus()
    private var tickets: [(ticket: WriteTicket, models: String)] = []
    private var modelCount = 0

    init(of cache: NormalizedCache, policy: WritePolicy) throws(CacheError) {
        self.cache = cache
        self.policy = policy
        changes = cache.changeSets()
        // A single write may take an eighth of the budget; records it replaces, and the index, have to fit beside it.
        partSize = try cache.statistics().budget.bytes / (8 * Self.partsOfWrite)
    }

    /// Stores the models, in as few writes as the budget allows: within one, an identity that occurs twice is
    /// written once, so that storing the same again changes nothing.
    mutating func set(_ document: ModelDocument) {
        var part: [JSONTree] = []
        var size = 0
        var start = 0
        for (index, model) in document.models.enumerated() {
            let modelSize = model.byteEstimate
            if !part.isEmpty, size + modelSize > partSize {
                add(cache.set(part, policy: policy), part, as: "\(document.name): models \(start) to \(index - 1)")
                (part, size, start) = ([], 0, index)
            }
            part.append(model)
            size += modelSize
        }
        guard !part.isEmpty else { return }
        add(cache.set(part, policy: policy), part, as: document.name)
    }

    mutating func setCollection(_ models: [JSONTree], forKey key: String) {
        let name = "collection \(key)"
        guard models.reduce(0, { $0 + $1.byteEstimate }) > partSize * Self.partsOfWrite else {
            return add(cache.setCollection(models, forKey: key, policy: policy), models, as: name)
        }
        // More than one write may hold: the nodes in parts, then the collection with nothing but references to them.
        let nodes = models.filter { $0.modelIdentifier != nil }
        set(ModelDocument(name: name, models: nodes))
        modelCount += models.count - nodes.count
        tickets.append((cache.setCollection(models.map(\.stub), forKey: key, policy: .merge), name))
    }

    mutating func setModel(_ model: JSONTree, forKey key: String) {
        add(cache.setModel(model, forKey: key, policy: policy), [model], as: "key \(key)")
    }

    private mutating func add(_ ticket: WriteTicket, _ models: [JSONTree], as name: String) {
        census.add(write: models)
        modelCount += models.count
        tickets.append((ticket, name))
    }

    /// Waits until everything is committed, and closes the cache. Throws what the first failed write failed for.
    consuming func finish() async throws(CommandFailure) -> WriteSummary {
        var failure: CommandFailure?
        for (ticket, models) in tickets {
            do {
                try await ticket.committed
            } catch {
                failure = failure ?? CommandFailure("\(models): \(error)")
            }
        }
        // Ends the sequence of changes.
        cache.close()
        if let failure { throw failure }
        var written: Set<Identifier> = []
        for await change in changes { written.formUnion(change.written.map(Identifier.init)) }
        return WriteSummary(
            models: modelCount, nodes: census.identifiers.count, written: written.count,
            contradictions: census.contradictions)
    }
}
