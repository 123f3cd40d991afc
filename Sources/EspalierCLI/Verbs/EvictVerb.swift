import ArgumentParser
import EspalierRecords
import EspalierStore

/// `espalier evict`: takes what was not accessed for longest, or what is named.
struct EvictVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract: "Evicts what was not accessed for longest, or what is named.",
        discussion: """
            With --to it says what would go, and with --yes it does it: trees in the order of their last access, until what is \
            left takes no more than the size; what is pinned stays. Files do not become shorter: their pages are for what is \
            written next, and the limit of the directory is its budget.

            What is named goes at once, whatever its age, and what it refers to stays and counts as accessed. What others refer \
            to, or is pinned, can't go without breaking a tree: exits with 1. Exits with 2 if there is nothing of that name.
            """)

    @OptionGroup var cache: CacheArgument

    @Argument(help: "Identifiers of nodes, TYPE:ID.")
    var identifiers: [String] = []

    @Option(
        help: ArgumentHelp(
            "A collection, by its key; may be given several times.", valueName: "key"))
    var collection: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The bytes that may stay in use, as in 50MiB.", valueName: "size"),
        transform: SizeArgument.init(parsing:))
    var to: SizeArgument?

    @Flag(help: "Does what --to tells of.")
    var yes = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        let names = identifiers + collection
        guard (to == nil) != names.isEmpty else {
            throw ValidationError(
                to == nil
                    ? "Give --to with a size, or what is to be evicted."
                    : "--to does not go with names.")
        }
        guard !yes || to != nil else { throw ValidationError("--yes goes with --to.") }
        guard !names.contains("") else {
            throw ValidationError("An identifier or key is not empty.")
        }
    }

    func run() async throws {
        guard let to, !yes else { return try await evict() }
        let forecast = try cache.inspect { inspection in
            let kept = try inspection.pinnedRecords()
            return EvictionForecast(
                preview: try inspection.evictionPreview(to: ByteCount(to.bytes)),
                pins: try inspection.pins.count,
                pinnedRecords: kept.count, pinnedBytes: kept.bytes)
        }
        try output.print(forecast)
        if output.format == .table { try Console.print("\nnothing was evicted; --yes does it") }
    }

    private func evict() async throws {
        let cache = try cache.openExisting()
        defer { cache.close() }
        do {
            let before = try cache.statistics()
            if let to {
                try await cache.evict(to: ByteCount(to.bytes)).committed
            } else {
                try await evictNamed(in: cache)
            }
            let after = try cache.statistics()
            try output.print(EvictionSummary(before: before, after: after))
            if let to, after.bytesInUse.bytes > to.bytes {
                throw CommandFailure(
                    """
                    \(self.cache.cache): \(SizeArgument.formatted(after.bytesInUse.bytes)) are in use still, and nothing \
                    more can go. espalier pin lists what is kept.
                    """)
            }
        } catch let error as CacheError {
            throw self.cache.failure(error)
        }
    }

    private func evictNamed(in cache: NormalizedCache) async throws {
        let entries =
            identifiers.map { EntryOptions.Entry.node($0) } + collection.map { .collection($0) }
        for entry in entries {
            try cache.inspect { inspection in
                guard try inspection.contains(entry) else {
                    throw CommandFailure(
                        "\(entry): not found, nothing was evicted\(try inspection.advice(onMissing: entry))",
                        kind: .miss)
                }
            }
        }
        for entry in entries {
            do {
                switch entry {
                case .collection(let key): try await cache.evictCollection(forKey: key).committed
                case .node(let name), .key(let name): try await cache.evict(name).committed
                }
            } catch {
                throw CommandFailure("\(entry): \(error)")
            }
        }
    }
}

extension Inspection {
    fileprivate func contains(_ entry: EntryOptions.Entry) throws -> Bool {
        switch entry {
        case .node(let identifier): try handle(of: identifier, in: .node) != nil
        case .collection(let key): try handle(of: key, in: .collection) != nil
        case .key(let key): try handle(of: key, in: .key) != nil
        }
    }
}
