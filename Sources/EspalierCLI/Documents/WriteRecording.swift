#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore

/// Submits writes to a cache and records what they changed.
struct WriteRecording {
    private let cache: NormalizedCache
    private let policy: WritePolicy
    private let changes: AsyncStream<ChangeSet>
    private let notes: Task<Void, Never>
    private let partSize: Int
    private let evictedBefore: Int
    private static let partsOfWrite = 4
    /// The most models of one write. Each new node may change a page of the index of its own, and
    /// LMDB needs free pages in a row for the list of the pages that a commit frees.
    fileprivate static let modelsOfWrite = 2_048
    private var census: NodeCensus
    private var tickets: [(ticket: WriteTicket, models: String)] = []
    private var modelCount = 0

    init(of cache: NormalizedCache, policy: WritePolicy) throws(CacheError) {
        self.cache = cache
        self.policy = policy
        census = NodeCensus(policy: policy)
        changes = cache.ownChangeSets()
        notes = Console.noteReplacements(in: cache)
        // A single write may take an eighth of the budget. The records it replaces and the index
        // must fit beside it.
        let statistics = try cache.statistics()
        partSize = statistics.budget.bytes / (8 * Self.partsOfWrite)
        evictedBefore = statistics.evictions.records
    }

    /// Stores the models in as few writes as the budget allows. An identity that occurs twice in a
    /// write is written once, so that storing the same document again changes nothing.
    mutating func set(_ document: ModelDocument) {
        modelCount += document.models.count
        store(document)
    }

    private mutating func store(_ document: ModelDocument) {
        // A merge knows all parts of a document, unless it may not fit into the budget: a part that
        // refers to an evicted node would store it again, without members.
        let isWhole =
            policy == .merge && document.byteEstimate <= partSize * Self.partsOfWrite
        let parts = document.parts(of: partSize)
        census.beginDocument()
        for (number, range) in parts.enumerated() {
            if number > 0, !isWhole { census.beginWrite() }
            let name =
                parts.count == 1
                ? document.name
                : "\(document.name): models \(range.lowerBound) to \(range.upperBound - 1)"
            let models = census.add(write: Array(document.models[range]))
            tickets.append((cache.set(models, policy: policy), name))
        }
    }

    /// Stores the models of documents, as `set` does, and all of them as a collection.
    mutating func setCollection(_ documents: [ModelDocument], forKey key: String)
        async throws(CommandFailure)
    {
        let name = "collection \(key)"
        let models = documents.flatMap(\.models)
        modelCount += models.count
        let bytes = documents.reduce(0) { $0 + $1.byteEstimate }
        guard documents.count > 1 || bytes > partSize * Self.partsOfWrite else {
            _ = census.add(write: models)
            tickets.append((cache.setCollection(models, forKey: key, policy: policy), name))
            return
        }
        // Stores the nodes of each document, then the collection with references to them.
        for document in documents {
            store(
                ModelDocument(
                    name: documents.count > 1 ? document.name : name,
                    models: document.models.flatMap(\.outermostNodes)))
        }
        guard await areCommitted else { return }
        try requireStored(models.flatMap(\.outermostNodes), name)
        tickets.append(
            (cache.setCollection(models.map(\.referring), forKey: key, policy: .merge), name))
    }

    /// Whether all writes so far were committed. `finish` throws the failure of one that was not.
    private var areCommitted: Bool {
        get async {
            for (ticket, _) in tickets where (try? await ticket.committed) == nil { return false }
            return true
        }
    }

    /// Throws if nodes were evicted to make room for others: the references of the collection would
    /// store them again without members.
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
            \(name): the models do not fit in the budget of \
            \(SizeArgument.formatted(budget.bytes)): some nodes were evicted to make room for \
            others. Raise the budget with espalier budget.
            """)
    }

    mutating func setModel(_ model: JSONTree, forKey key: String) {
        modelCount += 1
        _ = census.add(write: [model])
        tickets.append((cache.setModel(model, forKey: key, policy: policy), "key \(key)"))
    }

    /// Waits until all writes are committed, and closes the cache.
    ///
    /// - Throws: The failure of the first write that failed.
    consuming func finish() async throws(CommandFailure) -> WriteSummary {
        var failure: String?
        var stored = 0
        for (ticket, models) in tickets {
            do {
                try await ticket.committed
                stored += 1
            } catch {
                failure = failure ?? "\(models): \(error)"
            }
        }
        let evicted = (try? cache.statistics().evictions.records) ?? evictedBefore
        // Closing ends the sequences of changes and events.
        cache.close()
        await notes.value
        if let failure {
            let rest = stored > 0 ? " Of \(tickets.count) writes, \(stored) were stored." : ""
            throw CommandFailure(failure + rest)
        }
        var written: Set<Identifier> = []
        for await change in changes { written.formUnion(change.written.map(Identifier.init)) }
        return WriteSummary(
            models: modelCount, nodes: census.identifiers.count, written: written.count,
            contradictions: census.contradictions, losses: census.losses,
            firstLoss: census.firstLoss, replacements: census.replacements,
            firstReplacement: census.firstReplacement,
            evicted: max(0, evicted - evictedBefore))
    }
}

extension ModelDocument {
    /// An estimate of the bytes that storing all models takes.
    fileprivate var byteEstimate: Int { models.reduce(0) { $0 + $1.byteEstimate } }

    /// Returns runs of models of about `size` bytes each. A larger model is a run of its own.
    fileprivate func parts(of size: Int) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        var bytes = 0
        for (index, model) in models.enumerated() {
            let next = model.byteEstimate
            let isFull = index - start == WriteRecording.modelsOfWrite || bytes + next > size
            if index > start, isFull {
                parts.append(start..<index)
                (start, bytes) = (index, 0)
            }
            bytes += next
        }
        if start < models.count { parts.append(start..<models.count) }
        return parts
    }
}

/// The result of a write command.
struct WriteSummary: Sendable, Equatable {
    let models: Int
    /// The number of different identifiers.
    let nodes: Int
    /// The number of nodes whose record is new or changed.
    let written: Int
    /// The number of objects that differ from the first one with the same identity, which counts.
    let contradictions: Int
    /// The number of those that say something which is not stored, and the identity of the first.
    var losses = 0
    var firstLoss: String?
    /// The number of objects that a later part of their document has replaced, so that something is
    /// lost, and the identity of the first.
    var replacements = 0
    var firstReplacement: String?
    /// The number of records that were evicted meanwhile, by any process.
    var evicted = 0

    var unchanged: Int { nodes - written }

    /// Which objects were replaced by a later part of their document; nil if none was of which
    /// something is lost.
    var noteOfReplacements: String? {
        guard let firstReplacement else { return nil }
        let objects = counted(replacements, "object")
        let names = replacements == 1 ? firstReplacement : "\(firstReplacement) and others"
        return
            "the document was stored in parts, and a later part has replaced \(objects) of an "
            + "earlier one that said something else: \(names). --merge keeps the members of all."
    }

    /// Which objects were left out; nil if none was that says something else than the first one.
    func note(of policy: WritePolicy) -> String? {
        guard let firstLoss else { return nil }
        let objects = losses == 1 ? "1 object" : "\(losses) objects"
        let names = losses == 1 ? firstLoss : "\(firstLoss) and others"
        guard policy == .replace else {
            return
                "\(objects) had other values in members of an object before with the same "
                + "identity, whose values count: \(names)."
        }
        return
            "\(objects) \(losses == 1 ? "was" : "were") left out, because the first one with the "
            + "same identity says something else: \(names). --merge keeps the members of all."
    }
}

extension WriteSummary: Printable {
    var report: Report {
        Report(
            .single,
            columns: [
                .right("models"), .right("nodes"), .right("nodesWritten", "written"),
                .right("nodesUnchanged", "unchanged"), .right("contradictions"),
            ],
            rows: [[models, nodes, written, unchanged, contradictions].map { .count($0) }])
    }
}

/// Counts the nodes that writes store, and the contradictions in a document.
///
/// Follows the rule of flattening: of several objects with one identity in a write, the first one
/// in preorder counts, and the others become references to it. In a merge, the others add the
/// members that those before them lack; also over several writes, of which the later ones leave out
/// what the earlier ones have stored.
struct NodeCensus {
    private let policy: WritePolicy
    private(set) var identifiers: Set<Identifier> = []
    /// The number of objects that differ from the first one with their identity.
    private(set) var contradictions = 0
    /// The number of those that say something which the first one does not, and the identity of the
    /// first of them.
    private(set) var losses = 0
    private(set) var firstLoss: String?
    /// The number of objects that another write of the same document has replaced, and of which
    /// something is lost so; and the identity of the first of them.
    private(set) var replacements = 0
    private(set) var firstReplacement: String?
    /// The objects of the write that count.
    private var first: [Identifier: JSONNode] = [:]
    /// The objects that the earlier writes of the document have stored.
    private var earlier: [Identifier: JSONNode] = [:]

    init(policy: WritePolicy = .replace) { self.policy = policy }

    /// Begins a document. What it says of a node that an earlier document has is newer, and no
    /// contradiction.
    mutating func beginDocument() {
        first = [:]
        earlier = [:]
    }

    /// Begins a write of the same document, or several that are merged as one.
    mutating func beginWrite() {
        if policy == .replace { earlier.merge(first) { _, new in new } }
        first = [:]
    }

    /// Counts the nodes that a write of models stores.
    ///
    /// - Returns: The models to write, and nodes that stand in members which are left out.
    mutating func add(write models: [JSONTree]) -> [JSONTree] {
        let written = first.isEmpty ? models : models.flatMap(rewritten)
        for model in models { add(model, isDiscarded: false) }
        return written
    }

    /// - Parameter isDiscarded: Whether the tree is part of an object that does not count.
    private mutating func add(_ tree: JSONTree, isDiscarded: Bool) {
        switch tree {
        case .null, .bool, .number, .string: break
        case .array(let elements):
            for element in elements { add(element, isDiscarded: isDiscarded) }
        case .object(let node):
            var isDiscarded = isDiscarded
            if let name = node.modelIdentifier {
                let identifier = Identifier(name)
                if let first = first[identifier] {
                    let differs =
                        policy == .merge
                        ? first.contradicts(node) : !first.hasSameContent(as: node)
                    if differs { contradictions += 1 }
                    if differs, policy == .merge || !first.includes(node) {
                        losses += 1
                        firstLoss = firstLoss ?? name
                    }
                    if policy == .merge {
                        self.first[identifier] = first.adding(node)
                    } else {
                        isDiscarded = true
                    }
                } else if !isDiscarded {
                    first[identifier] = node
                    identifiers.insert(identifier)
                    if let replaced = earlier[identifier], !replaced.hasSameContent(as: node) {
                        contradictions += 1
                        if !node.includes(replaced) {
                            replacements += 1
                            firstReplacement = firstReplacement ?? name
                        }
                    }
                }
            }
            for member in node.members { add(member.value, isDiscarded: isDiscarded) }
        }
    }

    /// Returns a tree without what earlier writes of the document have stored, and then the nodes
    /// of the members that it leaves out.
    private func rewritten(_ tree: JSONTree) -> [JSONTree] {
        var moved: [JSONTree] = []
        let rest = rewritten(tree, &moved)
        return [rest] + moved
    }

    private func rewritten(_ tree: JSONTree, _ moved: inout [JSONTree]) -> JSONTree {
        switch tree {
        case .null, .bool, .number, .string: return tree
        case .array(let elements): return .array(elements.map { rewritten($0, &moved) })
        case .object(let node):
            guard let known = node.modelIdentifier.flatMap({ first[Identifier($0)] }) else {
                return .object(
                    node.with(node.members.map { ($0.name, rewritten($0.value, &moved)) }))
            }
            let added = known.members(addedBy: node)
            let names = Set(added.map { Identifier($0.name) })
            for member in node.members where !names.contains(Identifier(member.name)) {
                moved += member.value.outermostNodes.map { rewritten($0, &moved) }
            }
            return .object(node.with(added.map { ($0.name, rewritten($0.value, &moved)) }))
        }
    }
}

extension JSONNode {
    /// Returns whether a member that both have has different values.
    fileprivate func contradicts(_ later: JSONNode) -> Bool {
        later.fetched.contains { name, value in
            self.value(of: name).map { !$0.hasSameContent(as: value) } ?? false
        }
    }

    /// Returns whether this object has all members of another one, with the same values.
    fileprivate func includes(_ other: JSONNode) -> Bool {
        other.members.allSatisfy { name, value in
            self.value(of: name)?.hasSameContent(as: value) ?? false
        }
    }

    /// Returns this object with the members that it lacks and `later` has.
    fileprivate func adding(_ later: JSONNode) -> JSONNode {
        with(fetched + members(addedBy: later))
    }

    /// The members that this object lacks and `later` has.
    fileprivate func members(addedBy later: JSONNode) -> [Member] {
        later.fetched.filter { value(of: $0.name) == nil }
    }

    /// The members that a merge stores.
    private var fetched: [Member] {
        guard nullKeeps else { return members }
        return members.filter { if case .null = $0.value { false } else { true } }
    }

    /// The value of a member that a merge stores; nil if there is none.
    ///
    /// - Complexity: O(log *n*) in the members, which are in the order of their names.
    private func value(of name: String) -> JSONTree? {
        var (low, high) = (0, members.count)
        while low < high {
            let middle = (low + high) / 2
            if members[middle].name.utf8.lexicographicallyPrecedes(name.utf8) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < members.count, members[low].name.hasSameBytes(as: name) else { return nil }
        if nullKeeps, case .null = members[low].value { return nil }
        return members[low].value
    }

    /// Returns whether both make the same record. References are compared by identifier.
    fileprivate func hasSameContent(as other: JSONNode) -> Bool {
        guard members.count == other.members.count else { return false }
        return zip(members, other.members).allSatisfy {
            $0.name.hasSameBytes(as: $1.name) && $0.value.hasSameContent(as: $1.value)
        }
    }
}

extension JSONTree {
    fileprivate func hasSameContent(as other: JSONTree) -> Bool {
        switch (self, other) {
        case (.null, .null): return true
        case (.bool(let a), .bool(let b)): return a == b
        case (.number(let a), .number(let b)): return a == b
        case (.string(let a), .string(let b)): return a.hasSameBytes(as: b)
        case (.array(let a), .array(let b)):
            return a.count == b.count && zip(a, b).allSatisfy { $0.hasSameContent(as: $1) }
        case (.object(let a), .object(let b)):
            guard let identifier = a.modelIdentifier, let otherIdentifier = b.modelIdentifier else {
                return a.modelIdentifier == nil && b.modelIdentifier == nil
                    && a.hasSameContent(as: b)
            }
            return identifier.hasSameBytes(as: otherIdentifier)
        default: return false
        }
    }
}
#endif
