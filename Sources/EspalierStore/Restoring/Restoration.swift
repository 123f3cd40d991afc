import EspalierRecords
import Synchronization

/// What the writes that restore one export have in common: which handle stands for which record
/// that is no more.
///
/// A number names the same one in all of these writes. `Sendable`; changed by commits only.
package final class Restoration: Sendable {
    // protected by itself
    private struct Known {
        /// The one last written to: handles of another mean nothing.
        var generation = ""
        var handles: [RecordReference: Handle] = [:]
        var taken: Set<Handle> = []
    }
    private let known = Mutex(Known())

    package init() {}

    func handle(of reference: RecordReference, in generation: Generation) -> Handle? {
        known.withLock { $0.generation == generation.name ? $0.handles[reference] : nil }
    }

    /// Whether a handle stands for something already.
    func knows(_ handle: Handle, in generation: Generation) -> Bool {
        known.withLock { $0.generation == generation.name && $0.taken.contains(handle) }
    }

    /// Takes in what a transaction gave out, once it is committed.
    func add(_ handles: [RecordReference: Handle], in generation: Generation) {
        known.withLock { known in
            if known.generation != generation.name { known = Known(generation: generation.name) }
            known.handles.merge(handles) { $1 }
            known.taken.formUnion(handles.values)
        }
    }
}
