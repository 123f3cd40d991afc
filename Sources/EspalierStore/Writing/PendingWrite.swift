import Dispatch
import Synchronization

/// One write on its way: first a model to flatten, by whoever comes first, then an operation to
/// commit.
final class PendingWrite: Sendable {
    // immutable
    let sequence: UInt64
    let ticket = WriteTicket()
    /// What it may be coalesced under: a later write of the same entry by the same type makes it
    /// superfluous.
    let coalescingKey: CoalescingKey?
    /// Whether it may be dropped when the queue is full. Deletes may not: what they delete would
    /// come back.
    let isDroppable: Bool
    /// Whether the writer has been waiting for it and goes to work at once: to wake a second
    /// thread, to flatten it, would cost both of them time.
    let isForWriter: Bool

    private enum State {
        case submitted(@Sendable () throws -> WriteOperation)
        case flattening
        case ready(Result<WriteOperation, CacheError>)
    }
    private let state: Mutex<State>
    /// Tickets of earlier writes that this one made superfluous. Flat, however long the chain was.
    private let absorbed = Mutex<Absorbed>(Absorbed())
    private struct Absorbed {
        var tickets: [WriteTicket] = []
        /// What became of this one: that of whatever it absorbs later, too.
        var result: Result<Void, CacheError>?
    }
    private let readiness = DispatchSemaphore(value: 0)

    init(
        sequence: UInt64, coalescingKey: CoalescingKey?, isDroppable: Bool,
        isForWriter: Bool = false,
        flatten: @escaping @Sendable () throws -> WriteOperation
    ) {
        self.sequence = sequence
        self.coalescingKey = coalescingKey
        self.isDroppable = isDroppable
        self.isForWriter = isForWriter
        state = Mutex(.submitted(flatten))
    }

    /// `old` gives way to this one: its tickets tell what becomes of this.
    func absorb(_ old: PendingWrite) {
        var tickets = old.absorbed.withLock { absorbed in
            defer { absorbed.tickets = [] }
            return absorbed.tickets
        }
        tickets.append(old.ticket)
        let result = absorbed.withLock { absorbed in
            if absorbed.result == nil { absorbed.tickets += tickets }
            return absorbed.result
        }
        if let result { for ticket in tickets { ticket.finish(result) } }
    }

    /// Tells its ticket, and those of the writes that gave way to it.
    func finish(_ result: Result<Void, CacheError>) {
        ticket.finish(result)
        let tickets = absorbed.withLock { absorbed in
            absorbed.result = result
            defer { absorbed.tickets = [] }
            return absorbed.tickets
        }
        for ticket in tickets { ticket.finish(result) }
    }

    /// Bytes it holds: a guess until it is flattened.
    static let assumedBytes = 1_024

    /// It will not be committed: its model, if nobody has flattened it yet, is let go of.
    func abandon() {
        state.withLock { state in
            if case .submitted = state { state = .ready(.failure(.dropped)) }
        }
    }

    /// Flattens the model unless somebody does or did. Returns the bytes it came to, if this call
    /// flattened it.
    @discardableResult
    func flatten() -> Int? {
        let work = state.withLock { state -> (@Sendable () throws -> WriteOperation)? in
            guard case .submitted(let work) = state else { return nil }
            state = .flattening
            return work
        }
        guard let work else { return nil }
        let result: Result<WriteOperation, CacheError>
        do {
            result = .success(try ReadScope.run { try work() })
        } catch {
            result = .failure(CacheError(error))
        }
        state.withLock { $0 = .ready(result) }
        readiness.signal()
        return (try? result.get().byteCount) ?? 0
    }

    /// The operation; waits for whoever is flattening it.
    func operation() -> Result<WriteOperation, CacheError> {
        flatten()
        while true {
            let result = state.withLock { state -> Result<WriteOperation, CacheError>? in
                guard case .ready(let result) = state else { return nil }
                return result
            }
            if let result { return result }
            readiness.wait()
            readiness.signal()
        }
    }
}
