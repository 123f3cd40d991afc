#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore

/// Stores the records of exports. Reads and checks all of them first, so that an error leaves the
/// cache as it was, and then stores them in parts.
@MainActor
struct RecordImport {
    private let files = RecordFiles()
    private let count: Int
    /// The record that takes the most room in a single write.
    private let largest: RecordCensus.Largest?
    /// The nodes that are referred to and have no line.
    private let unresolved: [(identifier: String, place: LinePlace)]

    /// A part of this share of the budget leaves room for the records it replaces. Parts beyond
    /// `largestPart` would only take more memory.
    private static let partsOfBudget = 32
    private static let largestPart = 4 << 20

    init(of inputs: [InputFile]) throws(CommandFailure) {
        var census = RecordCensus()
        for input in inputs {
            try files.add(input) { (record, place) throws(CommandFailure) in
                try census.add(record, at: place)
            }
        }
        // Copies what is needed below, so that the names of all records are freed.
        count = census.count
        largest = census.largest
        unresolved = census.unresolved
    }

    /// Throws unless every node that is referred to has a line or is in `cache`.
    func requireTargets(in cache: NormalizedCache?) throws {
        var missing = unresolved
        if let cache, !missing.isEmpty {
            missing = try cache.inspect { inspection in
                try missing.filter { try inspection.handle(of: $0.identifier, in: .node) == nil }
            }
        }
        guard let first = missing.first else { return }
        let others =
            switch missing.count {
            case 1: ""
            case 2: ", nor is another that is referred to"
            default: ", nor are \(missing.count - 1) others that are referred to"
            }
        throw CommandFailure(
            """
            \(first.place): the node \(first.identifier) is neither in the file nor in the \
            cache\(others)
            """
        )
    }

    /// Throws if a record is too large for a single write to a cache with this budget.
    func requireRoom(in budget: ByteCount) throws(CommandFailure) {
        let limit = budget.bytes / 8
        guard let largest, largest.bytes > limit else { return }
        throw CommandFailure(
            """
            \(largest.place): \(largest.isElement ? "an element" : "a record") of \
            \(SizeArgument.formatted(largest.bytes)) is larger than one write may be, \
            \(SizeArgument.formatted(limit)); raise the budget with espalier budget, or with \
            --budget for a new cache
            """)
    }

    /// Stores all records, and closes the cache.
    func store(in cache: NormalizedCache) async throws -> RestoreSummary {
        let before = try cache.statistics()
        let budget = before.budget.bytes
        let notes = Console.noteReplacements(in: cache)
        var parts = RestoringParts(
            cache: cache, size: min(budget / Self.partsOfBudget, Self.largestPart))
        for var records in try files.readAgain() {
            while let (record, place) = try records.next() {
                for part in record.parts(ifOver: budget / 8, of: parts.size) {
                    try await parts.add(part, at: place)
                }
            }
        }
        try await parts.finish()
        let after = try cache.statistics()
        // Closing ends the sequence of events.
        cache.close()
        await notes.value
        guard after.generationsReplaced == before.generationsReplaced else {
            throw CommandFailure(
                """
                the cache began anew during the import, and a part of the records is gone: import \
                them again
                """)
        }
        let evicted = after.evictions.records - before.evictions.records
        return RestoreSummary(
            records: count, written: parts.restoration.written, evicted: max(0, evicted))
    }
}

/// Restores records in writes of a given size: reads the next part while a part is being committed.
@MainActor
private struct RestoringParts {
    let cache: NormalizedCache
    let size: Int
    let restoration = Restoration()
    private var records: [RestoredRecord] = []
    private var bytes = 0
    private var places: (first: LinePlace, last: LinePlace)?
    private var pending:
        (ticket: WriteTicket, first: LinePlace, last: LinePlace, furtherPartOf: String?)?

    init(cache: NormalizedCache, size: Int) {
        self.cache = cache
        self.size = size
    }

    mutating func add(_ record: RestoredRecord, at place: LinePlace) async throws {
        // The further elements of a collection must not be in one write with those before them.
        if !records.isEmpty, record.isFurtherPart || bytes + record.byteCount > size {
            try await submit()
        }
        records.append(record)
        bytes += record.byteCount
        places = (places?.first ?? place, place)
    }

    private mutating func submit() async throws {
        try await awaitPendingWrite()
        guard let places else { return }
        let further = records.last { $0.isFurtherPart }
        pending = (
            cache.restore(records, as: restoration), places.first, places.last, further?.identifier
        )
        (records, bytes, self.places) = ([], 0, nil)
    }

    private mutating func awaitPendingWrite() async throws {
        guard let (ticket, first, last, collection) = pending else { return }
        pending = nil
        do {
            try await ticket.committed
        } catch {
            // Reads would take a collection without its last elements for a whole one. One that
            // another writer has changed meanwhile is that writer's, and stays.
            if let collection, (error as? CacheError)?.isChangeBetweenParts != true {
                try? await cache.deleteCollection(forKey: collection).committed
            }
            throw CommandFailure("\(first.through(last)): \(error) The lines before are stored.")
        }
    }

    mutating func finish() async throws {
        try await submit()
        try await awaitPendingWrite()
    }
}

extension RestoredRecord {
    /// Splits a collection that is too large for a single write. Returns any other record
    /// unchanged.
    fileprivate func parts(ifOver limit: Int, of size: Int) -> [RestoredRecord] {
        guard case .collection(let elements) = content, byteCount > limit else { return [self] }
        var parts: [[RestoredValue]] = []
        var bytes = 0
        for element in elements {
            if parts.isEmpty || bytes + element.byteCount > size {
                parts.append([])
                bytes = 0
            }
            parts[parts.count - 1].append(element)
            bytes += element.byteCount
        }
        var stored = 0
        return parts.map { elements in
            defer { stored += elements.count }
            return RestoredRecord(
                identifier,
                stored == 0 ? .collection(elements) : .moreElements(elements, behind: stored),
                age: age)
        }
    }
}

/// The result of an import of records.
struct RestoreSummary: Sendable, Equatable {
    let records: Int
    /// The number of records that are new or changed.
    let written: Int
    /// The number of records that were evicted meanwhile, by any process.
    var evicted = 0

    var unchanged: Int { records - written }
}

extension RestoreSummary: Printable {
    var report: Report {
        Report(
            .single,
            columns: [
                .right("records"), .right("recordsWritten", "written"),
                .right("recordsUnchanged", "unchanged"),
            ],
            rows: [[.count(records), .count(written), .count(unchanged)]])
    }
}

/// The names and the targets of references in the lines of an import, which tell whether the import
/// is complete.
struct RecordCensus {
    /// The record that takes the most room in a single write.
    struct Largest {
        let bytes: Int
        let place: LinePlace
        /// Whether it is an element of a collection, which is stored in parts.
        let isElement: Bool
    }

    private(set) var count = 0
    private(set) var largest: Largest?
    private var names: [NameSpace: Set<Identifier>] = [:]
    /// The nodes without a line so far, with the place and the order of the first reference.
    private var missing: [Identifier: (place: LinePlace, order: Int)] = [:]
    private var references = 0

    mutating func add(_ record: RestoredRecord, at place: LinePlace) throws(CommandFailure) {
        let name = Identifier(record.identifier)
        guard names[record.nameSpace, default: []].insert(name).inserted else {
            throw CommandFailure(
                "\(place): there is another line of the \(record.kindName) \(name)")
        }
        count += 1
        if record.nameSpace == .node { missing[name] = nil }
        let bytes = record.largestElement ?? record.byteCount
        if bytes > largest?.bytes ?? 0 {
            largest = Largest(
                bytes: bytes, place: place, isElement: record.nameSpace == .collection)
        }
        for case .node(let identifier) in record.references {
            let target = Identifier(identifier)
            guard names[.node]?.contains(target) != true, missing[target] == nil else { continue }
            references += 1
            missing[target] = (place, references)
        }
    }

    /// The nodes that are referred to and have no line, with the place of the first reference.
    var unresolved: [(identifier: String, place: LinePlace)] {
        missing.sorted { $0.value.order < $1.value.order }.map { ($0.key.string, $0.value.place) }
    }
}

extension RestoredRecord {
    /// The bytes of the largest element of a collection; nil for other records.
    fileprivate var largestElement: Int? {
        guard case .collection(let elements) = content else { return nil }
        return elements.map(\.byteCount).max() ?? 0
    }

    fileprivate var kindName: String {
        switch nameSpace {
        case .node, .segment: "node"
        case .key: "key"
        case .collection: "collection"
        }
    }

    fileprivate var references: [RecordReference] {
        switch content {
        case .node(_, let value, _), .key(let value): value.references
        case .collection(let elements), .moreElements(let elements, _):
            elements.flatMap(\.references)
        }
    }
}
#endif
