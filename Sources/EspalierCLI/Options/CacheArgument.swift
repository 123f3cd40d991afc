import ArgumentParser
import EspalierRecords
import EspalierStore
import Foundation

/// The cache that a verb is about.
struct CacheArgument: ParsableArguments {
    @Argument(help: "The directory of the cache.", completion: .directory)
    var cache: String

    /// Opens the cache. Throws when there is none, and leaves everything as it was.
    func openExisting(compression: Compression? = nil) throws(CommandFailure) -> NormalizedCache {
        try Self.openExisting(at: cache, compression: compression)
    }

    static func openExisting(
        at path: String, compression: Compression? = nil
    ) throws(CommandFailure) -> NormalizedCache {
        do {
            return try NormalizedCache.existing(
                directory: path, configuration: .commandLine(compression: compression))
        } catch {
            throw failure(error, at: path)
        }
    }

    /// Opens the cache if there is one.
    func openIfThere() throws(CommandFailure) -> NormalizedCache? {
        do {
            return try NormalizedCache.existing(directory: cache, configuration: .commandLine())
        } catch  where error.code == .noCache {
            return nil
        } catch {
            throw failure(error)
        }
    }

    /// Opens the cache, which is made, with `budget`, if it is not there.
    func openOrCreate(
        budget: SizeArgument?, compression: Compression?
    ) throws(CommandFailure) -> NormalizedCache {
        try requireOwnDirectory()
        do {
            let cache = try NormalizedCache(
                directory: cache,
                configuration: .commandLine(budget: budget, compression: compression))
            let stored = try cache.statistics().budget
            if let budget, stored.bytes != budget.bytes {
                Console.note(
                    "the cache keeps its budget of \(SizeArgument.formatted(stored.bytes)); espalier budget changes it."
                )
            }
            return cache
        } catch {
            throw failure(error)
        }
    }

    /// No cache is made among other files: its directory is its own, and a wrong path would be hard
    /// to clean up.
    private func requireOwnDirectory() throws(CommandFailure) {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: cache)) ?? []
        guard !files.isEmpty, !files.contains("guard"), !files.contains("current") else { return }
        throw CommandFailure(
            "\(cache): The directory holds other files and no cache. Name one of its own.")
    }

    func failure(_ error: CacheError) -> CommandFailure { Self.failure(error, at: cache) }

    static func failure(_ error: CacheError, at path: String) -> CommandFailure {
        let advice = error.code == .noCache ? " Check the path; import makes a new one." : ""
        return CommandFailure("\(path): \(error)\(advice)")
    }

    /// A miss is exit code 2, a cache that can't be read exit code 1.
    func failure(_ what: String, _ reason: MissReason) -> CommandFailure {
        if case .unavailable(let detail) = reason { return CommandFailure("\(cache): \(detail)") }
        return CommandFailure("\(what): \(reason)", kind: .miss)
    }
}
