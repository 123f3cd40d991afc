/// Proof that the guard's lock is held; the lock is given back when this goes out of scope.
///
/// ```swift
/// try guardFile.withExclusiveLock { lock in
///     try Environment.open(directory: path, under: lock, keyspaces: names, options: options)
/// }
/// ```
///
/// Threading: belongs to one scope. Cost: none beyond the lock. Errors: none.
public struct GuardLock: ~Copyable {
    private let file: OpenFile
    let owner: GuardFile

    init(_ file: consuming OpenFile, of owner: GuardFile) {
        self.file = file
        self.owner = owner
    }

    deinit {
        // Closing alone would not do: a child forked meanwhile has the descriptor, too.
        FileLock.release(file)
    }

    /// Tells every process that the generation it serves is no longer the live one. Returns the new
    /// number.
    @discardableResult
    public func advanceGeneration() -> UInt64 {
        let next = owner.generation &+ 1
        owner.setGeneration(next)
        return next
    }
}
