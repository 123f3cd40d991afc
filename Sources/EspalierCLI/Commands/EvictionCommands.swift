#if CommandLine
import ArgumentParser
import EspalierInspection
import EspalierRecords
import EspalierStore

/// `espalier evict`: evicts the least recently used trees, those that have expired, or named
/// records.
struct EvictCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract: "Evicts the least recently used trees, expired ones, or named records.",
        discussion: """
            --to prints what an eviction down to a size would remove; --yes evicts. Trees go in \
            the order of their last access until the rest takes no more than the size; pinned \
            trees stay. The file does not shrink: the freed pages are there for what is written \
            next, and the budget limits the directory.

            --expired evicts the trees whose first record is older than the age that its write or \
            its type allowed, unless others refer to them or they are pinned. The cache does so \
            by itself when it needs room.

            A named record goes at once, whatever its age. The records it refers to stay and count \
            as accessed. A record that is pinned, or that others refer to, cannot be evicted: \
            exits with 1. Exits with 2 if the cache has no record of that name.
            """)

    @OptionGroup var cache: CacheArgument

    @Argument(help: "Identifiers of nodes, TYPE:ID.")
    var identifiers: [String] = []

    @Option(
        help: ArgumentHelp(
            "The key of a collection; may be repeated.", valueName: "key"))
    var collection: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The number of bytes that may stay in use, as in 50MiB.", valueName: "size"),
        transform: SizeArgument.init(parsing:))
    var to: SizeArgument?

    @Flag(help: "Evicts, instead of printing what --to would evict.")
    var yes = false

    @Flag(help: "Evicts the trees that have expired.")
    var expired = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        let names = identifiers + collection
        guard [to != nil, expired, !names.isEmpty].filter({ $0 }).count == 1 else {
            throw ValidationError(
                to == nil && !expired
                    ? "Give --to with a size, --expired, or the records to evict."
                    : "--to, --expired and names of records cannot be combined.")
        }
        guard !yes || to != nil else { throw ValidationError("--yes requires --to.") }
        guard !names.contains("") else {
            throw ValidationError("An identifier or key must not be empty.")
        }
    }

    @MainActor
    func run() async throws {
        guard let to, !yes else { return try await runOnCache() }
        let forecast = try cache.inspect { inspection in
            let kept = try inspection.pinnedRecords()
            return EvictionForecast(
                preview: try inspection.evictionPreview(to: ByteCount(to.bytes)),
                pins: try inspection.pins.count,
                pinnedRecords: kept.count, pinnedBytes: kept.bytes)
        }
        try output.print(forecast)
        if output.format == .table { try Console.print("\nnothing was evicted; --yes evicts") }
    }

    @MainActor
    func run(on cache: NormalizedCache) async throws {
        let before = try cache.statistics()
        if let to {
            try await cache.evict(to: ByteCount(to.bytes)).committed
        } else if expired {
            _ = try await cache.evictExpired()
        } else {
            try await evictNamed(in: cache)
        }
        let after = try cache.statistics()
        try output.print(EvictionSummary(before: before, after: after))
        if let to, after.bytesInUse.bytes > to.bytes {
            throw CommandFailure(
                """
                \(self.cache.cache): \(SizeArgument.formatted(after.bytesInUse.bytes)) are \
                still in use, and nothing more can be evicted. espalier pin lists the pinned \
                records.
                """)
        }
    }

    @MainActor
    private func evictNamed(in cache: NormalizedCache) async throws {
        let entries = identifiers.map(EntryName.node) + collection.map(EntryName.collection)
        for entry in entries {
            try cache.inspect { inspection in
                guard try inspection.handle(of: entry.text, in: entry.nameSpace) != nil else {
                    throw try inspection.notFound(entry, ", nothing was evicted")
                }
            }
        }
        for entry in entries {
            let isCollection = entry.nameSpace == .collection
            try await
                (isCollection
                ? cache.evictCollection(forKey: entry.text) : cache.evict(entry.text))
                .committed(for: entry)
        }
    }
}

/// `espalier budget`: prints the budget of a cache, or changes it.
struct BudgetCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "budget", abstract: "Prints or sets the budget of a cache.",
        discussion: """
            The budget is the most bytes that the directory of the cache may take, from 1MiB to \
            64GiB, for all processes. A larger budget applies at once. For a smaller one the cache \
            evicts the least recently used trees and copies the rest. Both copies together stay \
            within the old budget, which may evict more, unless --exceed allows more meanwhile. \
            Processes that have the cache open continue with the new budget.
            """)

    @OptionGroup var cache: CacheArgument

    @Argument(help: "The new budget, as in 50MiB.", transform: SizeArgument.init(parsing:))
    var size: SizeArgument?

    @Flag(help: "Lets the directory exceed the old budget during the change.")
    var exceed = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !exceed || size != nil else {
            throw ValidationError("--exceed requires a new budget.")
        }
        try BudgetOption.validate(size)
    }

    @MainActor
    func run(on cache: NormalizedCache) async throws {
        if let size {
            try await cache.setBudget(ByteCount(size.bytes), mayExceed: exceed).committed
        }
        let pinned = try cache.inspect { try $0.pinnedBytes }
        try output.print(
            BudgetReport(
                statistics: cache.statistics(), condition: cache.condition(), pinnedBytes: pinned))
    }
}

/// `espalier pin`: keeps a node or a collection from being evicted, or lists the pins.
struct PinCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Keeps a node or a collection, and all records below it, from being evicted.",
        discussion: """
            Without an identifier the command lists the pins, with the columns of ls. A pin lasts \
            until unpin, or until the record is deleted. Pinned records may take up to half the \
            budget. Pinning a record twice changes nothing. Exits with 2 if the cache has no \
            record of that name.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var pin: PinOptions
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        guard pin.entry == nil else { return try await runOnCache() }
        // The pinned nodes, then the pinned collections, each by identifier.
        let pinned = try cache.inspect { inspection in
            let reader = try RecordSummaries(inspection)
            return try inspection.pins.map {
                try reader.summary(of: $0, try inspection.record(of: $0))
            }
        }
        try output.print(RecordSummary.report(of: pinned))
    }

    @MainActor
    func run(on cache: NormalizedCache) async throws {
        guard let entry = pin.entry else { return }
        let isCollection = entry.nameSpace == .collection
        let ticket =
            isCollection ? cache.pinCollection(forKey: entry.text) : cache.pin(entry.text)
        do {
            try await ticket.committed
        } catch let error as CacheError where error.code == .notFound {
            throw try cache.inspect { try $0.notFound(entry) }
        } catch {
            throw CommandFailure("\(entry): \(error)")
        }
    }
}

/// `espalier unpin`: allows a node or a collection to be evicted again.
struct UnpinCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin",
        abstract: "Allows a node or a collection to be evicted again.",
        discussion: "espalier pin lists the pins. Exits with 2 if the record is not pinned.")

    @OptionGroup var cache: CacheArgument
    @OptionGroup var pin: PinOptions

    func validate() throws {
        guard pin.entry != nil else { throw ValidationError("Give an identifier or --collection.") }
    }

    @MainActor
    func run(on cache: NormalizedCache) async throws {
        guard let entry = pin.entry else { return }
        let pins = try cache.inspect { try $0.pins }
        let isPinned = pins.contains {
            $0.nameSpace == entry.nameSpace && $0.identifier.hasSameBytes(as: entry.text)
        }
        guard isPinned else { throw CommandFailure("\(entry): not pinned", kind: .miss) }
        let isCollection = entry.nameSpace == .collection
        try await
            (isCollection
            ? cache.unpinCollection(forKey: entry.text) : cache.unpin(entry.text))
            .committed(for: entry)
    }
}

/// The arguments that name a node or a collection to pin.
struct PinOptions: ParsableArguments {
    @Argument(help: "The identifier of a node, TYPE:ID.")
    var identifier: String?

    @Option(help: ArgumentHelp("The key of a collection.", valueName: "key"))
    var collection: String?

    func validate() throws {
        guard identifier == nil || collection == nil else {
            throw ValidationError("Give an identifier or --collection, not both.")
        }
        guard (identifier ?? collection) != "" else {
            throw ValidationError("An identifier or key must not be empty.")
        }
    }

    /// The name given, or nil if there is none.
    var entry: EntryName? {
        collection.map { .collection($0) } ?? identifier.map { .node($0) }
    }
}

/// `espalier collect-cycles`: finds cycles of records that only refer to one another.
struct CollectCyclesCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect-cycles",
        abstract: "Finds unreachable cycles of records, and index entries without a record.",
        discussion: """
            Records on a cycle always have a reference, so that eviction cannot find them by their \
            reference counts. Writes and reads notice most cycles; this command finds the others. \
            The cache collects cycles by itself too, a little with each commit, once for every \
            budget's worth of bytes written. The command evicts nothing: it makes the records that \
            it finds candidates for eviction.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var output: OutputOptions

    @MainActor
    func run(on cache: NormalizedCache) async throws {
        let before = try cache.statistics()
        try await cache.collectCycles().committed
        try output.print(CycleCollectionSummary(before: before, after: cache.statistics()))
    }
}
#endif
