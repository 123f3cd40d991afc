import EspalierModels
import Synchronization

/// Reads observed models again when a commit has changed a node of theirs.
///
///     commit, of any process --> names of changed nodes --> observers that have read such a node
///         --> each reads again, notes the nodes that it has read, hands the model on
///
/// An observer waits at most once, so commits that are faster than the reads cost one read for all
/// of them. What changes during a read is compared with the nodes of that read afterwards: no
/// observer stays behind. While there are observers, the center subscribes to the change sets.
///
/// Safe from every thread. No lock is held while a model is read or handed on.
final class ObservationCenter: Sendable {
    typealias Number = UInt64

    /// Reads, and hands on what it has read. Calls the completion with the names on which the
    /// result depends, those of the nodes and that at which it reads; and with whether it also
    /// depends on records without a name, which were lost or could not be read.
    typealias Read =
        @Sendable (
            _ completion: @escaping @Sendable (_ names: Set<String>, _ lacksNames: Bool) -> Void
        ) -> Void

    private struct Observer {
        let read: Read
        var names: Set<String>
    }

    // protected by `state`
    private struct State {
        var latest: Number = 0
        var observers: [Number: Observer] = [:]
        /// The observers that have read a node.
        var numbers: [String: Set<Number>] = [:]
        /// The observers that read after every write, because they don't know for which node they
        /// wait.
        var lacking: Set<Number> = []
        /// The observers that have to read, in the order of the changes.
        var waiting: [Number] = []
        var isWaiting: Set<Number> = []
        var isRunning = false
        /// What has changed since the read in progress began; nil without a read.
        var duringRead: (names: Set<String>, isReset: Bool)?
        var subscription: Task<Void, Never>?
        var isClosed = false

        /// Lets the observers of `names` read.
        mutating func add(_ names: some Sequence<String>, isReset: Bool) {
            duringRead?.names.formUnion(names)
            if isReset {
                duringRead?.isReset = true
                for number in observers.keys.sorted() { add(number) }
                return
            }
            for name in names {
                // Sorted, so that observers of one node are served in the order of registration.
                for number in (numbers[name] ?? []).sorted() { add(number) }
            }
        }

        mutating func add(_ number: Number) {
            if isWaiting.insert(number).inserted { waiting.append(number) }
        }

        /// Returns whether the caller has to run the reads.
        mutating func start() -> Bool {
            guard !isRunning, !waiting.isEmpty else { return false }
            isRunning = true
            return true
        }

        /// Replaces the names that an observer depends on.
        mutating func setNames(
            of number: Number, _ names: Set<String>, lacksNames: Bool = false
        ) {
            guard let known = observers[number]?.names else { return }
            if lacksNames { lacking.insert(number) } else { lacking.remove(number) }
            for name in known.subtracting(names) { removeName(name, of: number) }
            for name in names.subtracting(known) { numbers[name, default: []].insert(number) }
            observers[number]?.names = names
        }

        /// Removes an observer. The caller releases it after the lock: code of the app may run when
        /// its closure is released.
        mutating func remove(_ number: Number) -> Observer? {
            guard let observer = observers.removeValue(forKey: number) else { return nil }
            lacking.remove(number)
            for name in observer.names { removeName(name, of: number) }
            return observer
        }

        private mutating func removeName(_ name: String, of number: Number) {
            numbers[name]?.remove(number)
            if numbers[name]?.isEmpty == true { numbers[name] = nil }
        }
    }
    private let state = Mutex(State())

    // immutable
    private let changeSets: ChangeFeed

    init(_ changeSets: ChangeFeed) { self.changeSets = changeSets }

    /// The number of observers, and of names on which they depend.
    var count: (observers: Int, names: Int) {
        state.withLock { ($0.observers.count, $0.numbers.count) }
    }

    // MARK: Observers

    /// Adds an observer, which reads at once and after each change of the nodes that it has read.
    ///
    /// - Parameters:
    ///   - name: The name on which the observer depends, whether or not it can be read.
    ///   - read: Reads and hands on. Called on any thread, one observer after the other.
    /// - Returns: The observer's number; nil if the cache is closed.
    func add(dependingOn name: String, read: @escaping Read) -> Number? {
        while true {
            let added = state.withLock { state -> (number: Number?, starts: Bool)? in
                guard !state.isClosed else { return (nil, false) }
                // The removal of the last other observer may have ended it.
                guard state.subscription != nil else { return nil }
                state.latest += 1
                let number = state.latest
                state.observers[number] = Observer(read: read, names: [])
                state.setNames(of: number, [name])
                state.add(number)
                return (number, state.start())
            }
            guard let added else {
                follow()
                continue
            }
            if added.starts { run() }
            return added.number
        }
    }

    /// Removes an observer. It may still be reading.
    func remove(_ number: Number) {
        let (observer, subscription) = state.withLock { state in
            let observer = state.remove(number)
            return (observer, state.observers.isEmpty ? state.subscription.take() : nil)
        }
        subscription?.cancel()
        withExtendedLifetime(observer) {}
    }

    /// Ends all observations.
    func close() {
        let (observers, subscription) = state.withLock { state in
            state.isClosed = true
            defer {
                (state.observers, state.numbers, state.waiting) = ([:], [:], [])
                state.lacking = []
            }
            return (state.observers, state.subscription.take())
        }
        subscription?.cancel()
        withExtendedLifetime(observers) {}
    }

    /// Whether the observers have ended.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Follows the commits, if nobody does.
    ///
    /// Subscribes outside of the lock: that opens files, and may wait for a process that has the
    /// lock of the cache. The removal of an observer must not wait for it, because the main actor
    /// may remove one.
    private func follow() {
        guard state.withLock({ !$0.isClosed && $0.subscription == nil }) else { return }
        let subscription = subscribe()
        let isKept = state.withLock { state in
            guard !state.isClosed, state.subscription == nil else { return false }
            state.subscription = subscription
            return true
        }
        // Another observer was added at the same time, or the cache was closed.
        if !isKept { subscription.cancel() }
    }

    /// Makes a subscription to the commits, which begins before this returns.
    private func subscribe() -> Task<Void, Never> {
        let changes = changeSets.subscribe()
        return Task.detached { [weak self] in
            for await change in changes { self?.apply(change) }
        }
    }

    private func apply(_ changes: ChangeSet) {
        let starts = state.withLock { state -> Bool in
            state.add(changes.written, isReset: changes.isReset)
            state.add(changes.deleted, isReset: false)
            state.add(changes.evicted, isReset: false)
            state.add(changes.keys, isReset: false)
            if !changes.written.isEmpty || !changes.deleted.isEmpty {
                for number in state.lacking.sorted() { state.add(number) }
            }
            return state.start()
        }
        if starts { run() }
    }

    // MARK: Reading

    /// Lets the next observer read; ends when none waits.
    private func run() {
        let next = state.withLock { state -> (Number, Observer)? in
            while let number = state.waiting.first {
                state.waiting.removeFirst()
                state.isWaiting.remove(number)
                guard let observer = state.observers[number] else { continue }
                state.duringRead = ([], false)
                return (number, observer)
            }
            state.isRunning = false
            state.duringRead = nil
            return nil
        }
        guard let (number, observer) = next else { return }
        observer.read { [self] names, lacksNames in
            state.withLock { state in
                state.setNames(of: number, names, lacksNames: lacksNames)
                if let missed = state.duringRead,
                    missed.isReset || !missed.names.isDisjoint(with: names)
                        || lacksNames && !missed.names.isEmpty
                {
                    state.add(number)
                }
            }
            run()
        }
    }
}
