#if Server
import EspalierRecords
public import EspalierStore
public import Logging

// The trait `Server` adds swift-log and swift-metrics. Without it this module is empty, and neither
// package is fetched.

extension NormalizedCache {
    /// Logs what the cache does of its own accord, until it is closed.
    ///
    /// ```swift
    /// cache.log(to: Logger(label: "cache"))
    /// ```
    ///
    /// - `error`: optimistic changes or operations of outboxes are lost, because they were damaged.
    /// - `warning`: a write was given up, the contents were replaced after damage, other users had
    ///   access to a file, or a record was found damaged.
    /// - `notice`: the caller emptied the cache.
    /// - `debug`: a record was evicted.
    ///
    /// The metadata have reasons and numbers, and no identifiers or contents.
    ///
    /// - Parameter logger: Where the messages go. A task calls it, so a slow one delays no read. Of
    ///   damaged records that wait to be logged, it gets the last hundred.
    /// - Returns: The logging, which `cancel()` ends. It does not keep the cache open.
    @discardableResult
    public func log(to logger: Logger) -> CacheLogging {
        let events = events()
        let (damage, continuation) = AsyncStream<String>.makeStream(
            bufferingPolicy: .bufferingNewest(100))
        let task = Task {
            for await event in events {
                // The sequence still gives the events that it had before the task was cancelled.
                guard !Task.isCancelled else { return }
                event.log(to: logger)
            }
            // The cache is closed.
            continuation.finish()
        }
        let damageTask = Task {
            for await detail in damage {
                guard !Task.isCancelled else { return }
                logger.warning("a record is damaged", metadata: ["detail": "\(detail)"])
            }
        }
        let misses = observeMisses { miss in
            guard case .damaged(_, let detail) = miss.reason else { return }
            continuation.yield("\(detail)")
        }
        return CacheLogging(tasks: [task, damageTask], misses: misses)
    }
}

/// The logging of a cache's events, which can be ended.
///
/// ```swift
/// let logging = cache.log(to: logger)
/// logging.cancel()
/// ```
public struct CacheLogging: Sendable {
    fileprivate let tasks: [Task<Void, Never>]
    fileprivate let misses: MissObservation

    /// Ends the logging. A message may still be on its way.
    public func cancel() {
        for task in tasks { task.cancel() }
        misses.cancel()
    }
}

extension CacheEvent {
    fileprivate func log(to logger: Logger) {
        switch self {
        case .evicted(let eviction):
            logger.debug(
                "evicted",
                metadata: [
                    "reason": "\(eviction.reason)", "records": "\(eviction.records)",
                    "bytes": "\(eviction.bytes.bytes)",
                ])
        case .generationReplaced(let reason):
            logger.log(
                level: reason == "emptied" ? .notice : .warning,
                "the contents of the cache were replaced", metadata: ["reason": "\(reason)"])
        case .writeDropped(let reason):
            logger.warning("a write was given up", metadata: ["reason": "\(reason)"])
        case .accessRestricted(let name):
            logger.warning(
                "other users had access to a file of the cache", metadata: ["file": "\(name)"])
        case .optimisticChangesLost(let changes, let operations):
            logger.error(
                "optimistic changes or operations of outboxes were damaged, and are lost",
                metadata: ["changes": "\(changes)", "operations": "\(operations)"])
        }
    }
}
#endif
