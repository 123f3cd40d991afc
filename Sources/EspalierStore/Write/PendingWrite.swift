import Dispatch
import EspalierRecords
import Synchronization

/// A write from its submission until its ticket has a result.
///
///     submitted --> flattening --> ready          the writer commits it
///         |                          |
///         +------> abandoned <-------+            the queue dropped it, or a later write
///                                                 overwrites it
///
/// An abandoned write is `ready` with the error `dropped`, unless a thread is flattening it: that
/// thread makes it `ready` in the end.
///
/// The flattening thread flattens writes ahead of the writer. The writer flattens a write that the
/// flattening thread has not begun. A thread that submits to a full queue flattens the writes that
/// the queue has to compare.
final class PendingWrite: Sendable {
    // immutable
    /// Its place in the order of submission, from 1.
    let sequence: UInt64
    let ticket = WriteTicket()
    /// The entry that this write replaces; nil if no later write can overwrite this one.
    let coalescingKey: CoalescingKey?
    /// Whether a full queue may drop this write. It must not drop a delete, because the deleted
    /// entry would come back.
    let isDroppable: Bool
    /// Whether the writer was waiting when this write was submitted, and flattens it at once.
    /// Waking the flattening thread as well would take longer.
    let isFlattenedByWriter: Bool

    private enum State {
        case submitted(@Sendable () throws -> WriteOperation)
        case flattening
        case ready(Result<WriteOperation, CacheError>)
    }
    private let state: Mutex<State>
    private let readiness = DispatchSemaphore(value: 0)

    /// The bytes that the queue counts for a write until the write is flattened.
    static let assumedByteCount = 1_024

    init(
        sequence: UInt64, coalescingKey: CoalescingKey?, isDroppable: Bool,
        isFlattenedByWriter: Bool = false,
        flatten: @escaping @Sendable () throws -> WriteOperation
    ) {
        self.sequence = sequence
        self.coalescingKey = coalescingKey
        self.isDroppable = isDroppable
        self.isFlattenedByWriter = isFlattenedByWriter
        state = Mutex(.submitted(flatten))
    }

    /// Flattens the model, unless a thread has begun to. Returns the bytes of the operation, 0 for
    /// a failure, if this call flattened the model; otherwise nil.
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
            let operation = try AppCodeScope.run { try work() }
            ticket.setContradictions(operation.contradictions)
            result = .success(operation)
        } catch {
            result = .failure(CacheError(error))
        }
        state.withLock { $0 = .ready(result) }
        readiness.signal()
        return byteCount
    }

    /// The bytes that the operation holds; an assumed number while the model is not flattened.
    var byteCount: Int {
        guard let operation = readyOperation else { return Self.assumedByteCount }
        return (try? operation.get().byteCount) ?? 0
    }

    /// Returns the operation. Flattens the model, or waits for the thread that is flattening it.
    func operation() -> Result<WriteOperation, CacheError> {
        flatten()
        while true {
            if let result = readyOperation { return result }
            readiness.wait()
            readiness.signal()
        }
    }

    /// The operation, if the model is flattened.
    private var readyOperation: Result<WriteOperation, CacheError>? {
        state.withLock { state in
            guard case .ready(let result) = state else { return nil }
            return result
        }
    }

    /// Whether flattening has ended, with an operation or with an error.
    var isFlattened: Bool { readyOperation != nil }

    /// Returns whether this write overwrites everything that `earlier` stores; nil while one of
    /// them is not flattened.
    func overwrites(_ earlier: PendingWrite) -> Bool? {
        guard let new = readyOperation, let old = earlier.readyOperation else { return nil }
        guard case .success(let new) = new, case .success(let old) = old else { return false }
        return new.overwrites(old)
    }

    /// Releases the model or the operation, because the write will not be committed. A model that a
    /// thread is flattening stays until this object is released.
    func abandon() {
        let released = state.withLock { state -> State? in
            if case .flattening = state { return nil }
            defer { state = .ready(.failure(.dropped)) }
            return state
        }
        // Outside of the lock: a model that is released may run code of the app.
        withExtendedLifetime(released) {}
    }
}

/// An entry and the type that writes it. Of two writes with the same key, the later one replaces
/// the entry as that type sees it.
struct CoalescingKey: Hashable, Sendable {
    private let nameSpace: NameSpace
    private let name: Identifier
    private let projection: Identifier

    init(nameSpace: NameSpace, name: String, projection: String) {
        self.nameSpace = nameSpace
        self.name = Identifier(name)
        self.projection = Identifier(projection)
    }
}
