import EspalierConsistency

/// The latest edits of a collection, for updates that were made for the list before them, or
/// submitted before them.
///
/// An update names places of the list it was made for. Edits since then move those places; and what
/// an edit has put in is newer than every update that was submitted before it, even if the update
/// was made with it in the list. An edit is kept until the updates before it have been delivered.
struct SpliceLog {
    private struct Entry {
        let revision: ChangeTime
        let splice: CollectionSplice
        /// The edit, for the index; nil for what an update took out, which is kept only for what it
        /// moves.
        let edit: TreeSplice?
    }
    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    /// The edits that the index may not have heard of.
    var edits: [TreeSplice] { entries.compactMap(\.edit) }

    mutating func append(_ splice: CollectionSplice, _ edit: TreeSplice) {
        entries.append(Entry(revision: edit.new, splice: splice, edit: edit))
    }

    /// An update took an element out of the list: what the edits before have put in has moved.
    mutating func noteDeletion(at index: Int, _ revision: ChangeTime) {
        guard !entries.isEmpty else { return }
        let splice = CollectionSplice(range: index..<index + 1, count: 0)
        entries.append(Entry(revision: revision, splice: splice, edit: nil))
    }

    mutating func removeThrough(_ revision: ChangeTime) {
        entries.removeAll { $0.revision <= revision }
        entries.removeFirst(entries.prefix { $0.edit == nil }.count)
    }

    mutating func removeAll() { entries = [] }

    /// Where the elements of the list of `base` are now.
    func places(inListOf base: ChangeTime) -> Places {
        var exempt: Set<Int> = []
        for entry in entries where entry.revision <= base {
            exempt = Set(exempt.compactMap(entry.splice.moved)).union(entry.splice.inserted)
        }
        return Places(exempt: exempt, moves: entries.filter { $0.revision > base }.map(\.splice))
    }

    struct Places {
        /// What came in after the update was submitted.
        let exempt: Set<Int>
        let moves: [CollectionSplice]

        /// Nil for what is gone, and for what is newer than what is said of it.
        func now(_ index: Int) -> Int? {
            guard !exempt.contains(index) else { return nil }
            var index = index
            for move in moves {
                guard let moved = move.moved(index) else { return nil }
                index = moved
            }
            return index
        }
    }
}
