public import Dispatch

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Runs a closure whenever another process may have committed, or may have switched the generation.
///
/// ```swift
/// let watch = CommitWatch(listeners, queue) { readTheRing() }
/// watch.cancel()
/// ```
///
/// On Linux inotify tells that the guard file was read, or closed by a process that could write it.
/// On Apple's systems a dispatch source tells that its times were set. Until then nothing runs and
/// no thread waits. Other calls cause an event, too: opening and closing the cache, and changing
/// the modes of files. If the system gives no such source, as where all of the user's inotify
/// instances are in use, a timer runs the closure every 25 milliseconds.
///
/// After an event the watch rests for four milliseconds, and all events of that time become one.
/// Without the rest, each commit of another process would wake this process, and a process that
/// commits thousands of times a second would be slowed down by that. A commit is therefore noticed
/// at once after a quiet time, and up to four milliseconds later otherwise.
public final class CommitWatch: Sendable {
    /// The pause between two looks where the system does not tell of changes, in milliseconds.
    private static let pollingPause = 25
    /// How long a watch rests after an event, in milliseconds.
    private static let rest = 4

    // immutable
    /// Whether a timer stands in for the events of the system.
    public let isPolling: Bool
    /// Libdispatch's objects may be used by all threads; the type does not say so on all systems.
    private nonisolated(unsafe) let source: any DispatchSourceProtocol

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - listeners: The listeners of the cache. Its guard file is watched.
    ///   - onlyPolls: Whether to use the timer in any case, because no process announces commits.
    ///   - queue: Where `onEvent` runs.
    ///   - onEvent: Called after one event or several.
    /// - Complexity: Some system calls.
    public init(
        _ listeners: ChangeListeners, onlyPolls: Bool = false, _ queue: DispatchQueue,
        _ onEvent: @escaping @Sendable () -> Void
    ) {
        if !onlyPolls, let events = Self.eventSource(listeners.guardFile.path, queue, onEvent) {
            unsafe source = events
            isPolling = false
        } else {
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.setEventHandler(handler: DispatchWorkItem(block: onEvent))
            timer.schedule(
                deadline: .now(), repeating: .milliseconds(Self.pollingPause),
                leeway: .milliseconds(5))
            unsafe source = timer
            isPolling = true
        }
        unsafe source.resume()
    }

    deinit { cancel() }

    /// Ends watching. A call of the closure may still be under way.
    public func cancel() { unsafe source.cancel() }

    #if canImport(Glibc)
    /// Returns a source that reads the events of inotify, or nil if the system gives none.
    private static func eventSource(
        _ path: String, _ queue: DispatchQueue, _ onEvent: @escaping @Sendable () -> Void
    ) -> (any DispatchSourceProtocol)? {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        // The second one tells that a process has died or has switched the generation, the last
        // three that the file is gone.
        let events = IN_ACCESS | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF
        guard unsafe inotify_add_watch(descriptor, path, UInt32(events)) >= 0 else {
            close(descriptor)
            return nil
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler {
            // The closure looks at everything, so what the events say does not matter.
            var bytes = [UInt8](repeating: 0, count: 4_096)
            while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
            onEvent()
            rest(source, queue)
        }
        source.setCancelHandler { close(descriptor) }
        return source
    }
    #else
    /// Returns a source of the events of the file, or nil if the system gives none.
    private static func eventSource(
        _ path: String, _ queue: DispatchQueue, _ onEvent: @escaping @Sendable () -> Void
    ) -> (any DispatchSourceProtocol)? {
        let descriptor = unsafe open(path, O_EVTONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let source = DispatchSource.makeFileSystemObjectSource(
            fileDescriptor: descriptor, eventMask: [.attrib, .delete, .rename], queue: queue)
        source.setEventHandler {
            onEvent()
            rest(source, queue)
        }
        source.setCancelHandler { close(descriptor) }
        return source
    }
    #endif

    /// Delays further events by `rest` milliseconds. The system combines them into one.
    private static func rest(_ source: any DispatchSourceProtocol, _ queue: DispatchQueue) {
        guard !source.isCancelled else { return }
        source.suspend()
        // The block keeps the source: a suspended one must not be released.
        nonisolated(unsafe) let source = source
        queue.asyncAfter(deadline: .now() + .milliseconds(rest)) { unsafe source.resume() }
    }
}
