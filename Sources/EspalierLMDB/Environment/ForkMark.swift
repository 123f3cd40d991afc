import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Tells whether this process was forked since an environment was opened, at the cost of one load.
///
/// LMDB's locks and reader slots belong to the process that opened the environment; a child that
/// used an inherited one would appear to work and damage both.
enum ForkMark {
    private static let forks = Atomic<UInt64>(0)
    private static let isWatching: Bool = {
        let result = pthread_atfork(nil, nil) { ForkMark.forks.add(1, ordering: .relaxed) }
        precondition(result == 0, "pthread_atfork failed: out of memory")
        return true
    }()

    /// Forks between the start of the watch and now, in the line of ancestors of this process.
    static var current: UInt64 { forks.load(ordering: .relaxed) }

    static func watch() {
        _ = isWatching
    }
}
