import EspalierLMDB
import Synchronization

// What becomes of commits if the disk is full, or if the files of the cache are gone; new
// generations; and the last commits before the cache closes.
extension Committer {
    // MARK: - Full disk

    /// How long the map stays limited to the file before a commit finds out whether the disk has
    /// room again.
    private static let diskPatience = Duration.seconds(10)
    private static let resizeDeadline = Duration.milliseconds(250)

    /// Limits the map to the pages that the file has: the disk has no room for more. The budget is
    /// then that of the file, and the retry evicts as in a full cache.
    func limitToFile(_ generation: Generation?, after error: any Error) throws {
        guard let environment = generation?.environment, !environment.isLimitedToFile else {
            throw error
        }
        do {
            try environment.limitToFile(deadline: Self.resizeDeadline)
        } catch {
            // Reads of this process are under way. Free pages may be enough for the retry, which
            // reserves none.
        }
        state.withLock { $0.diskRetry = .now + Self.diskPatience }
    }

    /// Gives the map the size of the budget again, some time after the disk was full.
    func liftDiskLimit(of generation: Generation) {
        guard generation.environment.isLimitedToFile,
            state.withLock({ $0.diskRetry.map { $0 <= .now } ?? true })
        else { return }
        // If reads prevent it, the next write tries again.
        try? generation.environment.resize(
            mapSize: Generation.mapSize(for: generation.budget), deadline: .zero)
    }

    /// Returns the error of a cache for a failed commit. If the map is limited to the file, a full
    /// cache is a full disk.
    func explained(_ error: any Error, in generation: Generation?) -> CacheError {
        let explained = CacheError(error, budget: generation?.budget)
        guard explained.code == .full, generation?.environment.isLimitedToFile == true else {
            return explained
        }
        return CacheError(LMDBError.diskFull)
    }

    // MARK: - Missing files

    /// How long commits may succeed after the files were last seen in their place.
    private static let sightInterval = Duration.seconds(1)

    /// Replaces the generation if the cache's files were removed or renamed, and throws
    /// `directoryGone`: what was committed since they were last seen is gone. If a new generation
    /// can't take their place, the next call tries again.
    ///
    /// - Parameter looksNow: Whether to look even if the files were seen less than a second ago.
    func replaceMissingFiles(looksNow: Bool) throws(CacheError) {
        let now = ContinuousClock.now
        let lastSeen = state.withLock { $0.lastSeen }
        if !looksNow, let lastSeen, now - lastSeen < Self.sightInterval { return }
        let live = generations.liveName
        guard !generations.isInPlace else {
            // A new generation may have begun since an attempt below has failed.
            let missing = state.withLock { state in
                state.lastSeen = now
                return live == nil ? nil : state.missingGeneration.take()
            }
            guard let missing, missing != live else { return }
            feed?.beginCommit()
            defer { feed?.cancelCommit() }
            announceNewGeneration()
            return
        }
        feed?.beginCommit()
        defer { feed?.cancelCommit() }
        // Also if it fails: the contents are gone, and trees keep a part of the file mapped.
        memory?.removeGeneration()
        do {
            try generations.replaceMissing()
        } catch {
            state.withLock { state in
                state.lastSeen = nil
                state.missingGeneration = state.missingGeneration ?? live ?? ""
            }
            throw .directoryGone(cause: error)
        }
        state.withLock { state in
            state.lastSeen = now
            state.missingGeneration = nil
        }
        announceNewGeneration()
        throw .directoryGone(cause: nil)
    }

    // MARK: - New generations

    /// Copies the contents into a new generation, see `GenerationHolder.move`. Returns how many
    /// names were lost. Throws a `CacheError`, after which nothing is retried, if the contents were
    /// lost.
    @discardableResult
    func move(
        to budget: ByteCount?, room: ByteCount, throughMemory: Bool = true,
        newKey: Encryption? = nil
    ) throws -> Int {
        // Even if it fails: the old file may be gone. Trees would keep it open.
        defer { memory?.removeGeneration() }
        do {
            return try generations.move(
                to: budget, room: room, throughMemory: throughMemory, newKey: newKey)
        } catch let error as GenerationHolder.ContentsLost {
            feed?.beginCommit()
            defer { feed?.cancelCommit() }
            announceNewGeneration()
            throw CacheError.contentsLost(cause: error.cause)
        }
    }

    /// Tells readers in memory, subscribers and observers that an empty generation has begun.
    func announceNewGeneration() {
        memory?.removeGeneration()
        feed?.endReset()
        onCommit(.reset(by: .thisProcess, isEmptied: true), Timeline())
    }

    // MARK: - Closing

    /// Stores the logs when the cache closes. Evicts nothing, and clears no damaged record away: a
    /// tool that only looks at a damaged cache leaves it as it was.
    ///
    /// The first commit stores the oldest accesses. If others are left, further commits store as
    /// many as they have pages for, until another process has the lock for too long.
    func flushLogs() {
        guard !logs.isEmpty, !generations.isReadOnly else { return }
        let deadline = ContinuousClock.now + generations.writeDeadline
        // How many accesses a commit stores; nil for as many as are planned.
        var count: Int?
        for _ in 0..<Self.flushLimit {
            do {
                _ = try generations.withCurrent {
                    try commitOnce(
                        .init(
                            operations: [], goal: .pages(.max, .budget),
                            logs: count.map { .accesses($0) } ?? .planned, clearsDamage: false,
                            lockDeadline: max(.zero, deadline - ContinuousClock.now)), in: $0)
                }
                guard logs.accesses.deadline != nil else { return }
                count = count.map { min($0, Int.max / 2) * 2 } ?? .max
            } catch let error where RoomMaker.isOutOfPages(error) {
                count = min(count ?? .max, AccessLog.flushCount) / 4
                guard count != 0 else { return }
            } catch {
                return
            }
        }
    }

    /// The most commits that store the logs when the cache closes.
    private static let flushLimit = 64
}
