import EspalierInspection
import EspalierLMDB
import EspalierRecords

@testable import EspalierStore

/// Ways below the cache's own: to look at what is stored, and to damage it.
extension NormalizedCache {
    var generation: Generation { get throws { try engine.generations.current() } }

    /// Commits what `body` writes, behind the engine's back.
    func tamper(_ body: (inout WriteTransaction, Keyspaces) throws -> Void) throws {
        try engine.queue.catchUp()
        let generation = try generation
        try generation.environment.write { try body(&$0, generation.keyspaces) }
    }

    func look<R>(_ body: (borrowing ReadTransaction, Keyspaces) throws -> R) throws -> R {
        try engine.queue.catchUp()
        return try engine.inspect { try body($0, $1.keyspaces) }
    }

    func handle(_ identifier: String, in nameSpace: NameSpace = .node) throws -> Handle? {
        try look { try $0.handle($1, nameSpace, identifier) }
    }

    /// What is kept of the node besides its content; the default where nothing is.
    func state(_ identifier: String, in nameSpace: NameSpace = .node) throws -> StateEntry {
        let handle = try present(try handle(identifier, in: nameSpace))
        return try state(handle)
    }

    func state(_ handle: Handle) throws -> StateEntry {
        try look { try $0.state($1, of: handle) ?? .default }
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

/// Nothing is stored where a test expected something.
struct Missing: Error {}

func present(_ handle: Handle?) throws -> Handle {
    guard let handle else { throw Missing() }
    return handle
}
