import Dispatch
import EspalierModels
import EspalierRecords
import EspalierStore
import Synchronization
import Testing

extension Remark: SimpleModel {}
extension Person: SimpleModel {}

/// A `CollectionEditOutcome` that is `Hashable`.
enum EditResult: Hashable, Sendable {
    case applied
    case outOfDate
    case failed(CacheError.Code?)

    init(_ outcome: CollectionEditOutcome) {
        switch outcome {
        case .applied: self = .applied
        case .outOfDate: self = .outOfDate
        case .failed(let error): self = .failed((error as? CacheError)?.code)
        }
    }
}

/// The outcomes of edits by the number of the edit.
final class EditResults: Sendable {
    private let results = Mutex<[Int: [EditResult]]>([:])
    private let arrivals = DispatchSemaphore(value: 0)

    func record(_ outcome: CollectionEditOutcome, of number: Int) {
        results.withLock { $0[number, default: []].append(EditResult(outcome)) }
        arrivals.signal()
    }

    /// Blocks until `count` more outcomes have arrived.
    func wait(for count: Int) { for _ in 0..<count { arrivals.wait() } }

    /// All outcomes so far, in the order of the numbers. An edit with two outcomes occurs twice.
    var all: [EditResult] { results.withLock { $0.sorted { $0.key < $1.key }.flatMap(\.value) } }
}

extension CollectionNeighbours {
    /// The neighbours that a sender who has `list` expects at `index`.
    init(_ list: [some IdentifiedModel], around index: Int) {
        func identifier(_ index: Int) -> String? {
            list.indices.contains(index) ? list[index].modelIdentifier : nil
        }
        self.init(
            count: list.count, previous: identifier(index &- 1), current: identifier(index),
            next: identifier(index &+ 1))
    }
}

extension CollectionEdit<any SimpleModel> {
    /// Returns the index of the edit in a list of `count` elements.
    func index(in count: Int) -> Int {
        range?.lowerBound ?? count
    }

    /// Applies the edit to a list.
    func apply(to list: inout [Remark]) {
        list.replaceSubrange(
            range ?? list.count..<list.count, with: elements.compactMap { $0 as? Remark })
    }
}

extension CollectionCacheDelegate {
    /// Sends an edit, and blocks until its outcome arrives.
    func result(
        _ edit: CollectionEdit<any SimpleModel>, expecting neighbours: CollectionNeighbours,
        key: String = "c"
    ) -> EditResult {
        let results = EditResults()
        editCollection(edit, forKey: key, expecting: neighbours, context: nil) {
            results.record($0, of: 0)
        }
        results.wait(for: 1)
        return results.all[0]
    }

    /// Sends an edit of a sender who has `list`, and blocks until its outcome arrives.
    func result(_ edit: CollectionEdit<any SimpleModel>, of list: [Remark], key: String = "c")
        -> EditResult
    {
        let neighbours = CollectionNeighbours(list, around: edit.index(in: list.count))
        return result(edit, expecting: neighbours, key: key)
    }
}

/// A list that any thread may edit. Each edit is sent to the cache in the order of the edits.
final class Sender: Sendable {
    private let cache: NormalizedCache
    private let guarded: Mutex<[Remark]>
    let results = EditResults()

    init(_ cache: NormalizedCache, _ list: [Remark]) {
        self.cache = cache
        guarded = Mutex(list)
    }

    var list: [Remark] { guarded.withLock { $0 } }

    /// Applies the edit that `make` returns for the number of elements, and sends it.
    func edit(
        _ number: Int, _ make: (Int) -> CollectionEdit<any SimpleModel>,
        onOutcome: @escaping @Sendable () -> Void = {}
    ) {
        guarded.withLock { list in
            let edit = make(list.count)
            let neighbours = CollectionNeighbours(list, around: edit.index(in: list.count))
            cache.editCollection(edit, forKey: "c", expecting: neighbours, context: nil) {
                [results] outcome in
                onOutcome()
                results.record(outcome, of: number)
            }
            edit.apply(to: &list)
        }
    }
}

extension Remark {
    /// A remark with an identifier, which has a record of its own.
    static func node(_ number: Int) -> Remark { Remark("node \(number)", id: "r:\(number)") }
}

extension NormalizedCache {
    /// Reads the collection. Returns nil for a miss.
    func remarks(_ key: String = "c") -> [Remark]? { collection(of: Remark.self, forKey: key) }
}
