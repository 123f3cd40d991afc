import EspalierSharedRecords
import EspalierStore

/// A server as its follower sees it: which commits the near cache knows of. Protected by the lock
/// of `Coherence`, which explains the numbers.
struct FollowedServer {
    var isFollowed = false
    /// How often the server's copies were distrusted. A copy that was fetched before that is not
    /// restored after it: the server may give out the same numbers again.
    var epoch = 0
    /// Whether the follower has to make its copies outdated. Until then they look fresh.
    var mustOutdateCopies = false
    /// Whether the process that is followed has forgotten commits, as after `FLUSHALL`. Until the
    /// follower resets the server, numbers of commits are not comparable.
    var hasLostCommits = false
    /// Changes of copies that the near cache may not have committed.
    var pending: [PendingChange] = []
    /// The last commit that the follower has handed on.
    private(set) var processed: UInt64 = 0
    /// The last commit such that the near cache knows of it and of all before it.
    private(set) var applied: UInt64 = 0
    /// Changes up to this commit may be missing in `Coherence.State.recent`.
    var windowStart: UInt64 = 0
    /// Names the process of the server that is followed.
    var runIdentifier = ""
    /// Noted commits of this host that the follower has not processed, and their versions.
    private var own: [UInt64: RecordVersion] = [:]
    /// The versions of commits of this host that the follower has not processed.
    var ownVersions: Set<RecordVersion> = []
    /// The last moment at which the host knew all of the server's commits.
    var confirmed: Moment?

    /// A change of copies that must not fail: on a full disk, older copies would look fresh for
    /// ever.
    struct PendingChange {
        let ticket: WriteTicket
        /// The records of copies that are to become outdated if the change fails.
        var names: [SharedName] = []
    }

    /// Notes a commit of this host. Returns whether the near cache knows of all commits before it.
    mutating func note(_ clock: UInt64, _ version: RecordVersion) -> Bool {
        if clock > processed { own[clock] = version }
        advance()
        return clock <= applied
    }

    /// Notes that the follower has handed on a commit. Returns whether it was noted before.
    mutating func process(_ clock: UInt64, _ version: RecordVersion) -> Bool {
        processed = clock
        advance()
        // After a failover, another process may give the number to another commit.
        return own.removeValue(forKey: clock) == version
    }

    /// Begins behind a commit.
    mutating func begin(after clock: UInt64) {
        (processed, applied, windowStart) = (clock, clock, clock)
        hasLostCommits = false
        own = [:]
        ownVersions = []
    }

    private mutating func advance() {
        applied = max(applied, processed)
        while own[applied + 1] != nil { applied += 1 }
    }
}

extension Coherence {
    /// A record for the near cache: the state of its server after the commit `clock`.
    struct Copy: Sendable {
        let name: SharedName
        let record: SharedRecord
        let server: Int
        let clock: UInt64
        /// The epoch of the server before it was asked.
        let epoch: Int
        /// Names the process of the server that gave the number. That of the follower may be
        /// another one, which gives the number to another commit.
        let runIdentifier: String
    }
}
