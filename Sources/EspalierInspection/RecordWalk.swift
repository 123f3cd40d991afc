import EspalierLMDB
package import EspalierRecords
import EspalierStore

// A frame that can't be read does not tell which records it holds, and a damaged container does not
// tell which frames. The rest of the cache names these records: the index, their states, and the
// records that refer to them. Only the segments of a damaged collection have no other name.
extension Inspection {
    /// Visits every record, segments included, in the order of handles until `body` returns
    /// `false`. Visits damaged records, too.
    ///
    /// - Complexity: O(*n*) in the records of the cache. After damage, with a few words of memory
    ///   for each record.
    package func forEachRecord(_ body: (Handle, StoredRecord) throws -> Bool) throws {
        var damaged: ArraySlice<Handle>?
        func visit(_ handle: Handle) throws -> Bool {
            // A record with a pending removal may have lost chunks, and no name leads to it.
            if (try? state(of: handle))??.flags.contains(.pendingRemoval) == true { return true }
            return try body(handle, try record(handle))
        }
        /// Visits the damaged records before a handle, or all that are left.
        func visitDamaged(before handle: Handle?) throws -> Bool {
            while let next = damaged?.first, handle.map({ next < $0 }) ?? true {
                damaged?.removeFirst()
                guard try visit(next) else { return false }
            }
            return true
        }
        var isStopped = false
        try stored.forEach { found in
            if case .damaged = found, damaged == nil { damaged = try recordsOfDamagedFrames()[...] }
            for handle in found.handles {
                guard try visitDamaged(before: handle), try visit(handle) else {
                    isStopped = true
                    return false
                }
            }
            return true
        }
        if !isStopped { _ = try visitDamaged(before: nil) }
    }

    /// Returns the handles of the records in frames and containers that can't be read.
    private func recordsOfDamagedFrames() throws -> [Handle] {
        var readable: Set<Handle> = []
        var named: Set<Handle> = []
        try stored.forEachHandle { handle in
            readable.insert(handle)
            named.formUnion(stored.children(of: handle))
            return true
        }
        try snapshot.forEachIndexEntry(keyspaces) { entry in
            named.insert(entry.handle)
            return true
        }
        try snapshot.forEachState(keyspaces) { handle, _ in named.insert(handle) }
        return try named.subtracting(readable).sorted().filter { handle in
            if case .damaged = try record(handle) { true } else { false }
        }
    }
}
