import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The processes that want to know at once what other processes commit.
///
/// ```swift
/// let listeners = ChangeListeners(guardFile)
/// try listeners.begin()                     // in the process that listens
///
/// let look = listeners.look()               // in the process that commits, inside the transaction
/// try transaction.commit()
/// if look.isHeard { listeners.announce() }
/// ```
///
/// A process that listens holds a shared lock on the file `listeners`, and sets a bit in the guard
/// file. The bit tells a process that commits, at the cost of one load, that it has to look for the
/// lock; the system releases the lock when its process dies:
///
///     bit clear                no process listens, and none has to look
///     bit set, lock held       another process listens
///     bit set, no lock         a process that listened has died: the next look clears the bit
///
/// Above the bit stands a number that grows whenever a process begins to listen. A process clears
/// the bit only if the number is still the one from before it looked for the lock.
///
/// All threads may use one object. The lock belongs to the process and is lost when the process
/// closes any descriptor of the file, so a process has one open object for a directory at a time.
public final class ChangeListeners: Sendable {
    /// The name of the file, which has no bytes and exists once a process has listened.
    public static let fileName = "listeners"

    /// What a process has seen that looked for listeners.
    public struct Look: Sendable, Hashable {
        /// Whether another process listens.
        public let isHeard: Bool
        fileprivate let word: UInt64

        /// The look of a process that does not care.
        public static let none = Look(isHeard: false, word: 0)

        fileprivate init(isHeard: Bool, word: UInt64) {
            self.isHeard = isHeard
            self.word = word
        }
    }

    // immutable
    let guardFile: GuardFile

    // protected by `state`
    private struct State: ~Copyable {
        /// The file `listeners`.
        var file: OpenFile?
        /// The guard file, to be read in order to wake others.
        var signal: OpenFile?
        /// How often `begin` has succeeded since the last `end` of each.
        var users = 0
        var isClosed = false
    }
    private let state = Mutex(State())

    /// Makes the listeners of a cache. Opens no file.
    ///
    /// - Parameter guardFile: The guard file of the cache.
    public init(_ guardFile: GuardFile) { self.guardFile = guardFile }

    // MARK: Listening

    /// Begins to listen. Commits that begin from now on are announced. A commit that is under way
    /// is announced when it has ended.
    ///
    /// Each call that succeeds needs an ``end()`` of its own.
    ///
    /// - Throws: ``LMDBError``: `.notWritable` if the guard file is only read, `.badPath` if
    ///   something else than a plain file stands in the place of `listeners`, or an error of the
    ///   file system. No process announces anything to this one then.
    /// - Complexity: Some system calls.
    public func begin() throws(LMDBError) {
        guard !guardFile.isReadOnly else { throw LMDBError(.notWritable, .openGuard) }
        try state.withLock { (state) throws(LMDBError) in
            guard !state.isClosed else { throw LMDBError(.closed, .openGuard) }
            if state.file == nil { state.file = try open(creating: true) }
            guard let descriptor = state.file?.descriptor,
                Self.lock(descriptor, F_RDLCK, F_SETLK) != nil
            else { throw .system(.lockGuard) }
            state.users += 1
        }
        guardFile.update(.listeners) { ($0 | 1) &+ 2 }
    }

    /// Ends what one call of ``begin()`` has begun. The process listens as long as any of them is
    /// left. Does nothing if the process does not listen.
    public func end() {
        state.withLock { state in
            guard state.users > 0 else { return }
            state.users -= 1
            guard state.users == 0, let descriptor = state.file?.descriptor else { return }
            let word = guardFile[.listeners]
            _ = Self.lock(descriptor, F_UNLCK, F_SETLK)
            if !Self.isHeldElsewhere(descriptor) { clear(word) }
        }
    }

    /// Ends listening, and closes the file. Call it before the process makes another object for
    /// the directory.
    public func close() {
        state.withLock { $0.users = min($0.users, 1) }
        end()
        state.withLock { state in
            state.isClosed = true
            state.file = nil
            state.signal = nil
        }
    }

    // MARK: Committing

    /// Looks whether another process listens. Call it inside the write transaction.
    ///
    /// - Complexity: One load if no process has listened since the bit was cleared, otherwise one
    ///   system call.
    public func look() -> Look {
        let word = guardFile[.listeners]
        guard word & 1 != 0 else { return Look(isHeard: false, word: word) }
        return state.withLock { state in
            guard !state.isClosed else { return Look(isHeard: false, word: word) }
            if state.file == nil {
                do throws(LMDBError) {
                    state.file = try open(creating: false)
                } catch {
                    // The file was removed, or descriptors have run out.
                    if error.code == .notFound { clear(word) }
                    return Look(isHeard: error.code != .notFound, word: word)
                }
            }
            guard let descriptor = state.file?.descriptor else {
                return Look(isHeard: false, word: word)
            }
            let isHeard = Self.isHeldElsewhere(descriptor)
            if !isHeard, state.users == 0 { clear(word) }
            return Look(isHeard: isHeard, word: word)
        }
    }

    /// Whether a process has begun to listen since `look`. It may have missed that commit.
    ///
    /// - Complexity: One load.
    public func hasGrown(since look: Look) -> Bool {
        let word = guardFile[.listeners]
        return word & 1 != 0 && word >> 1 != look.word >> 1
    }

    /// Wakes all processes that listen. Call it after the commit.
    ///
    /// On Linux this reads a byte of the guard file, which inotify tells. A process that is killed
    /// between its commit and this call wakes them, too: it has mapped the guard file to write it,
    /// and the system tells of the end of that mapping as of a closed file. On Apple's systems this
    /// sets the times of the file, and such a process wakes no other.
    ///
    /// - Complexity: One system call.
    public func announce() {
        state.withLock { state in
            if state.signal == nil, !state.isClosed {
                state.signal = try? OpenFile(
                    guardFile.name, in: guardFile.directory.descriptor, flags: O_RDONLY,
                    .openGuard)
            }
            guard let descriptor = state.signal?.descriptor else { return }
            #if canImport(Glibc)
            var byte: UInt8 = 0
            _ = unsafe pread(descriptor, &byte, 1, 0)
            #else
            _ = unsafe futimens(descriptor, nil)
            #endif
        }
    }

    // MARK: The lock

    private func open(creating: Bool) throws(LMDBError) -> OpenFile {
        let file = try OpenFile(
            Self.fileName, in: guardFile.directory.descriptor,
            flags: O_RDWR | (creating ? O_CREAT : 0), .openGuard)
        guard try file.status(.openGuard).isPlainFile else {
            throw LMDBError(.badPath, .openGuard)
        }
        return file
    }

    /// Clears the bit, unless a process has begun to listen since the word was read.
    private func clear(_ word: UInt64) {
        guardFile.update(.listeners) { $0 == word ? word & ~1 : $0 }
    }

    /// Returns whether another process listens. Locks of this process do not count.
    private static func isHeldElsewhere(_ descriptor: Int32) -> Bool {
        // If the system refuses to tell, a process may listen.
        lock(descriptor, F_WRLCK, F_GETLK) != Int16(F_UNLCK)
    }

    /// Calls `fcntl` for the first byte of the file. Returns the type of lock that it reports, or
    /// nil after an error.
    private static func lock(_ descriptor: Int32, _ type: Int32, _ command: Int32) -> Int16? {
        var region = flock()
        region.l_type = Int16(type)
        region.l_whence = Int16(SEEK_SET)
        region.l_start = 0
        region.l_len = 1
        guard unsafe fcntl(descriptor, command, &region) == 0 else { return nil }
        return region.l_type
    }
}
