import EspalierInspection
import EspalierLMDB
import EspalierRecords

@testable import EspalierStore

/// Direct access to the stored entries, to inspect and to damage them.
extension NormalizedCache {
    var generation: Generation { get throws { try engine.generations.current() } }

    /// Commits the changes of `body` without the engine's knowledge.
    func tamper(_ body: (inout WriteTransaction, Keyspaces) throws -> Void) throws {
        try engine.queue.catchUp()
        let generation = try generation
        try generation.environment.write { try body(&$0, generation.keyspaces) }
    }

    func readStorage<R>(_ body: (borrowing ReadTransaction, Keyspaces) throws -> R) throws -> R {
        try engine.queue.catchUp()
        return try engine.inspect { try body($0, $1.keyspaces) }
    }

    func handle(_ identifier: String, in nameSpace: NameSpace = .node) throws -> Handle? {
        try readStorage { try $0.handle($1, nameSpace, identifier) }
    }

    /// Returns the state entry of a record, or the default state if it has none.
    func state(_ identifier: String, in nameSpace: NameSpace = .node) throws -> StateEntry {
        let handle = try present(try handle(identifier, in: nameSpace))
        return try state(handle)
    }

    func state(_ handle: Handle) throws -> StateEntry {
        try readStorage { try $0.state($1, of: handle) ?? .default }
    }

    func record(_ handle: Handle) throws -> Record? {
        try inspect { inspection in
            guard case .record(let record) = try inspection.record(handle) else { return nil }
            return record
        }
    }

    /// Flips a bit in the middle of a stored record.
    func damage(_ identifier: String, in nameSpace: NameSpace = .node) throws {
        try damage(present(handle(identifier, in: nameSpace)))
    }

    func damage(_ handle: Handle) throws {
        try tamper { transaction, keyspaces in
            guard var bytes = try transaction.value(keyspaces.nodes, handle.rawValue) else {
                throw Missing()
            }
            bytes[bytes.count / 2] ^= 0x10
            try transaction.put(keyspaces.nodes, handle.rawValue, bytes)
        }
    }
}

/// The error when an entry is missing that a test expects.
struct Missing: Error {}

func present(_ handle: Handle?) throws -> Handle {
    guard let handle else { throw Missing() }
    return handle
}
