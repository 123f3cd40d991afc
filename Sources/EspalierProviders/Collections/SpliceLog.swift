import EspalierConsistency

/// The latest edits of a collection, for updates that were made for the list before them, or submitted before them.
///
/// An update names places of the list it was made for. Edits since then move those places; and what an edit has put in is
/// newer than every update that was submitted before it, even if the update was made with it in the list. An edit is kept until
/// the updates before it have been delivered.
struct SpliceLog {
    private struct Entry {
        let revision: ChangeTime
        let splice: CollectionSplice
        /// Made by an update, and kept only for what it moves.
        var isDeletion = false
    }
    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func append(_ splice: CollectionSplice, _ revision: ChangeTime) {
        entries.append(Entry(revision: revision, splice: splice))
    }

    /// An update took an element out of the list: what the edits before have put in has moved.
    mutating func noteDeletion(at index: Int, _ revision: ChangeTime) {
        guard !entries.isEmpty else { return }
        let splice = CollectionSplice(range: index..<index + 1, count: 0)
        entries.append(Entry(revision: revision, splice: splice, isDeletion: true))
    }

    mutating func removeThrough(_ revision: ChangeTime) {
        entries.removeAll { $0.revision <= revision }
        entries.removeFirst(entries.prefix(while: \.isDeletion).count)
    }

    mutating func removeAll() { entries = [] }

    /// Where what stood at `index` in the list of `base` is now; nil if it is gone, or newer than what is said of it.
    func place(of index: Int, inListOf base: ChangeTime) -> Int? {
        var exempt: [Int] = []
        for entry in entries where entry.revision <= base {
            exempt = exempt.compactMap(entry.splice.moved) + Array(entry.splice.inserted)
        }
        guard !exempt.contains(index) else { return nil }
        var index = index
        for entry in entries where entry.revision > base {
            guard let moved = entry.splice.moved(index) else { return nil }
            index = moved
        }
        return index
    }
}
