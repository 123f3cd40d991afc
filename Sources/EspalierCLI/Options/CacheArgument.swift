#if CommandLine
import ArgumentParser
import EspalierEncryption
import EspalierInspection
import EspalierRecords
import EspalierStore
import Foundation

/// The argument that names the cache of a command, and the ways to open it.
struct CacheArgument: ParsableArguments {
    @Argument(help: "The directory of the cache.", completion: .directory)
    var cache: String

    @OptionGroup var key: KeyOption

    /// Opens the cache.
    ///
    /// - Throws: `CommandFailure` if there is no cache, which is not created.
    func openExisting(compression: Compression? = nil) throws(CommandFailure) -> NormalizedCache {
        try Self.openExisting(at: cache, key.encryption(), compression: compression)
    }

    static func openExisting(
        at path: String, _ encryption: Encryption?, compression: Compression? = nil
    ) throws(CommandFailure) -> NormalizedCache {
        var configuration = Configuration.commandLine(encryption, compression: compression)
        do {
            return try NormalizedCache.existing(directory: path, configuration: configuration)
        } catch {
            // A cache on a read-only medium, or of another user, who the superuser may look at.
            configuration.isReadOnly = true
            guard error.code == .notWritable || error.code == .badDirectory,
                let cache = try? NormalizedCache.existing(
                    directory: path, configuration: configuration)
            else { throw failure(error, at: path) }
            Console.note("\(path): opened to read only. \(error)")
            return cache
        }
    }

    /// Opens the cache, or returns nil if there is none.
    func openIfThere() throws(CommandFailure) -> NormalizedCache? {
        let encryption = try key.encryption()
        do {
            return try NormalizedCache.existing(
                directory: cache, configuration: .commandLine(encryption))
        } catch  where error.code == .noCache {
            return nil
        } catch {
            throw failure(error)
        }
    }

    /// Opens the cache, or creates it with `budget` if there is none.
    func openOrCreate(
        budget: SizeArgument?, compression: Compression?
    ) throws(CommandFailure) -> NormalizedCache {
        let encryption = try key.encryption()
        do {
            let cache = try NormalizedCache(
                directory: cache,
                configuration: .commandLine(
                    encryption, budget: budget, compression: compression))
            let stored = try cache.statistics().budget
            if let budget, stored.bytes != budget.bytes {
                Console.note(
                    """
                    the cache keeps its budget of \(SizeArgument.formatted(stored.bytes)); \
                    espalier budget changes it.
                    """
                )
            }
            return cache
        } catch {
            throw failure(error)
        }
    }

    func failure(_ error: CacheError) -> CommandFailure { Self.failure(error, at: cache) }

    static func failure(_ error: CacheError, at path: String) -> CommandFailure {
        let advice =
            switch error.code {
            case .noCache: " Check the path; espalier import creates a cache."
            case .wrongKey where KeyHeader.isAvailable:
                " The option --key-file, or \(KeyOption.variable), names the file of the key."
            default: ""
            }
        return CommandFailure("\(path): \(error)\(advice)")
    }

    /// Returns the failure for a miss: exit code 1 if the cache cannot be read, 2 for any other
    /// reason.
    func failure(_ what: String, _ reason: MissReason) -> CommandFailure {
        if case .unavailable(let detail) = reason { return CommandFailure("\(cache): \(detail)") }
        return CommandFailure("\(what): \(reason)", kind: .miss)
    }

    /// Opens the cache, calls `body` with one snapshot of its records, and closes the cache. The
    /// result must not refer to the cache.
    func inspect<R>(_ body: (Inspection) throws -> R) throws(CommandFailure) -> R {
        let cache = try openExisting()
        defer { cache.close() }
        do {
            return try cache.inspect(body)
        } catch let error as CommandFailure {
            throw error
        } catch let error as CacheError {
            throw failure(error)
        } catch {
            throw CommandFailure("\(self.cache): \(error)")
        }
    }
}

/// A command on a cache that exists.
protocol CacheCommand: AsyncParsableCommand {
    var cache: CacheArgument { get }

    func open() throws(CommandFailure) -> NormalizedCache

    /// Runs the command. The cache is closed afterwards.
    @MainActor func run(on cache: NormalizedCache) async throws
}

extension CacheCommand {
    func open() throws(CommandFailure) -> NormalizedCache { try cache.openExisting() }

    @MainActor
    func run() async throws { try await runOnCache() }

    @MainActor
    func runOnCache() async throws {
        let opened = try open()
        defer { opened.close() }
        do {
            try await run(on: opened)
        } catch let error as CacheError {
            throw cache.failure(error)
        }
    }
}

extension Configuration {
    /// Returns the configuration with which the tool opens caches. Its limits let the tool store
    /// every document that the parser accepts and the budget allows, and read every record.
    static func commandLine(
        _ encryption: Encryption? = nil, budget: SizeArgument? = nil,
        compression: Compression? = nil
    ) -> Configuration {
        var limits = TreeLimits()
        // One level of JSON is one level of the tree, below the levels of a collection, its
        // segments and their elements.
        limits.maximumDepth = JSONParser.defaultMaximumDepth + 8
        limits.maximumNodes = 100_000_000
        limits.maximumLogicalNodes = limits.maximumNodes
        limits.maximumBytes = largestBudget.bytes
        return Configuration(
            budget: budget.map { ByteCount($0.bytes) } ?? Configuration().budget, limits: limits,
            // All models of a file are queued at once, and the queue must not drop any of them.
            queueLimit: largestBudget, compression: compression ?? .standard,
            encryption: encryption)
    }
}

/// The arguments that name a node, a collection or a key.
struct EntryOptions: ParsableArguments {
    @Argument(help: "The identifier of a node, TYPE:ID.")
    var identifier: String?

    @Option(help: ArgumentHelp("The key of a collection.", valueName: "key"))
    var collection: String?

    @Option(
        help: ArgumentHelp(
            "The key of a stored value; without such a key, the identifier of a node.",
            valueName: "key"))
    var key: String?

    func validate() throws {
        let given = [identifier, collection, key].compactMap { $0 }
        guard given.count == 1 else {
            throw ValidationError("Give one of: an identifier, --collection, --key.")
        }
        guard given[0] != "" else {
            throw ValidationError("An identifier or key must not be empty.")
        }
    }

    var entry: EntryName {
        if let collection { return .collection(collection) }
        if let key { return .key(key) }
        return .node(identifier ?? "")
    }
}
#endif
