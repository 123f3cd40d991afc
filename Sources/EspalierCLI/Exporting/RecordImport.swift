import EspalierRecords
import EspalierStore

/// Stores the records of exports. All of them are read and checked first, so that after an error
/// the cache is as it was; then what was checked is stored in parts.
@MainActor
struct RecordImport {
    private let files = RecordFiles()
    private let count: Int
    /// What takes most room in a single write.
    private let largest: RecordCensus.Largest?
    /// Nodes that are referred to and have no line.
    private let unresolved: [(identifier: String, place: LinePlace)]

    /// A commit in parts of this share of the budget leaves room for what it replaces. More would
    /// take memory only.
    private static let partsOfBudget = 32
    private static let largestPart = 4 << 20

    init(of inputs: [InputFile]) throws(CommandFailure) {
        var census = RecordCensus()
        for input in inputs {
            try files.add(input) { (record, place) throws(CommandFailure) in
                try census.add(record, at: place)
            }
        }
        // Not the names of all records: they have done their work.
        count = census.count
        largest = census.largest
        unresolved = census.unresolved
    }

    /// Throws unless everything that is referred to has a line, or is in `cache`.
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
            "\(first.place): the node \(first.identifier) is neither in the file nor in the cache\(others)"
        )
    }

    /// Throws when a record is too large for a single write to a cache with this budget.
    func requireRoom(in budget: ByteCount) throws(CommandFailure) {
        let limit = budget.bytes / 8
        guard let largest, largest.bytes > limit else { return }
        throw CommandFailure(
            """
            \(largest.place): \(largest.isElement ? "an element" : "a record") of \(SizeArgument.formatted(largest.bytes)) is more than one write may be, \
            \(SizeArgument.formatted(limit)); raise the budget: espalier budget, or --budget for a new cache
            """)
    }

    /// Stores everything, and closes the cache.
    func store(in cache: NormalizedCache) async throws -> RestoreSummary {
        let budget = try cache.statistics().budget.bytes
        let changes = cache.changeSets()
        let written = Task.detached {
            var count = 0
            for await change in changes { count += change.written.count + change.keys.count }
            return count
        }
        var parts = RestoringParts(
            cache: cache, size: min(budget / Self.partsOfBudget, Self.largestPart))
        for var records in try files.again() {
            while let (record, place) = try records.next() {
                for part in record.parts(ifOver: budget / 8, of: parts.size) {
                    try await parts.add(part, at: place)
                }
            }
        }
        try await parts.finish()
        // Ends the sequence of changes.
        cache.close()
        // A collection in several parts was written once for each.
        return RestoreSummary(records: count, written: await written.value - parts.furtherParts)
    }
}

/// Records on their way into a cache, in writes of some size: while one is committed the next is
/// read.
@MainActor
private struct RestoringParts {
    let cache: NormalizedCache
    let size: Int
    private(set) var furtherParts = 0
    private let restoration = Restoration()
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
        let isFurther = if case .moreElements = record.content { true } else { false }
        // Not in one write with the elements it goes behind.
        if !records.isEmpty, isFurther || bytes + record.byteCount > size { try await submit() }
        if isFurther { furtherParts += 1 }
        records.append(record)
        bytes += record.byteCount
        places = (places?.first ?? place, place)
    }

    private mutating func submit() async throws {
        try await settle()
        guard let places else { return }
        let further = records.last { if case .moreElements = $0.content { true } else { false } }
        pending = (
            cache.restore(records, as: restoration), places.first, places.last, further?.identifier
        )
        (records, bytes, self.places) = ([], 0, nil)
    }

    private mutating func settle() async throws {
        guard let (ticket, first, last, collection) = pending else { return }
        pending = nil
        do {
            try await ticket.committed
        } catch {
            // A collection that lacks its end would be read as whole.
            if let collection { try? await cache.deleteCollection(forKey: collection).committed }
            throw CommandFailure("\(first.through(last)): \(error) What stands before is stored.")
        }
    }

    mutating func finish() async throws {
        try await submit()
        try await settle()
    }
}

extension RestoredRecord {
    /// A collection too large for a single write as parts that are not; everything else as it is.
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
                stored == 0 ? .collection(elements) : .moreElements(elements, behind: stored))
        }
    }
}
