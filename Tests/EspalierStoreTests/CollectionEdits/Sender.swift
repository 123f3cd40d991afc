import Dispatch
import EspalierModels
import EspalierRecords
import EspalierStore
import Synchronization
import Testing

extension Remark: SimpleModel {}
extension Person: SimpleModel {}

/// A `CollectionEditOutcome` that can be compared.
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

/// The outcomes of edits by number, as they come.
final class EditResults: Sendable {
    private let results = Mutex<[Int: [EditResult]]>([:])
    private let arrivals = DispatchSemaphore(value: 0)

    func note(_ outcome: CollectionEditOutcome, of number: Int) {
        results.withLock { $0[number, default: []].append(EditResult(outcome)) }
        arrivals.signal()
    }

    /// Blocks until `count` have come.
    func wait(for count: Int) { for _ in 0..<count { arrivals.wait() } }

    /// All that have come so far, in the order of numbers; an edit with two outcomes stands there
    /// twice.
    var all: [EditResult] { results.withLock { $0.sorted { $0.key < $1.key }.flatMap(\.value) } }
}

extension CollectionNeighbours {
    /// What a sender who has `list` expects around `index`.
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
    /// Where it is in a list of `count` elements.
    func index(in count: Int) -> Int {
        range?.lowerBound ?? count
    }

    /// What it does to a list that has its index.
    func apply(to list: inout [Remark]) {
        list.replaceSubrange(
            range ?? list.count..<list.count, with: elements.compactMap { $0 as? Remark })
    }
}

extension CollectionCacheDelegate {
    /// Edits, and blocks until the outcome is there.
    func result(
        _ edit: CollectionEdit<any SimpleModel>, expecting neighbours: CollectionNeighbours,
        key: String = "c"
    ) -> EditResult {
        let results = EditResults()
        editCollection(edit, forKey: key, expecting: neighbours, context: nil) {
            results.note($0, of: 0)
        }
        results.wait(for: 1)
        return results.all[0]
    }

    /// The same for a sender who has `list`.
    func result(_ edit: CollectionEdit<any SimpleModel>, of list: [Remark], key: String = "c")
        -> EditResult
    {
        let neighbours = CollectionNeighbours(list, around: edit.index(in: list.count))
        return result(edit, expecting: neighbours, key: key)
    }
}

/// A list that is edited on any thread, and each edit of it sent, in one order.
final class Sender: Sendable {
    private let cache: NormalizedCache
    private let guarded: Mutex<[Remark]>
    let results = EditResults()

    init(_ cache: NormalizedCache, _ list: [Remark]) {
        self.cache = cache
        guarded = Mutex(list)
    }

    var list: [Remark] { guarded.withLock { $0 } }

    /// Makes an edit of as many elements as there are, and sends it as number `number`.
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
                results.note(outcome, of: number)
            }
            edit.apply(to: &list)
        }
    }
}

extension Remark {
    /// One with an identifier, a record of its own.
    static func node(_ number: Int) -> Remark { Remark("node \(number)", id: "r:\(number)") }
}

extension NormalizedCache {
    /// The collection as it is read; nil for a miss.
    func remarks(_ key: String = "c") -> [Remark]? { collection(of: Remark.self, forKey: key) }
}
