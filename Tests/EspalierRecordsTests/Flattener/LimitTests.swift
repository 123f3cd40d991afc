import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@Suite("Limits of trees")
struct LimitTests {
    static func chain(_ count: Int) -> Link {
        (0..<count).reduce(Link("end")) { Link("\($1)", $0) }
    }

    func limits(_ change: (inout TreeLimits) -> Void) -> TreeLimits {
        var limits = TreeLimits()
        change(&limits)
        return limits
    }

    @Test("Depth counts nodes, containers and inline values alike")
    func depth() throws {
        let limit = limits { $0.maximumDepth = 10 }
        #expect(try DictionaryRecordSource.flatten(Self.chain(9), limits: limit).nodes.count == 10)
        #expect(throws: FlattenError.tooDeep(limit: 10)) {
            try DictionaryRecordSource.flatten(Self.chain(10), limits: limit)
        }
        let nested = limits { $0.maximumDepth = 3 }
        let shelf = Shelf("s", frames: [Frame(Leaf("a"))], requiredFrame: Frame(Leaf("a")))
        #expect(throws: FlattenError.tooDeep(limit: 3)) {
            try DictionaryRecordSource.flatten(shelf, limits: nested)
        }
        #expect(throws: Never.self) {
            try DictionaryRecordSource.flatten(shelf, limits: limits { $0.maximumDepth = 4 })
        }
    }

    @Test(
        "Sets inside of sets are written in a time that grows with their depth, not with its power")
    func nestedSets() throws {
        struct Folder: Codable, Hashable {
            let name: String
            let folders: Set<Folder>
        }
        struct Drive: Codable, NormalizedModel {
            let root: Folder
            var modelIdentifier: String? { "Drive" }
        }
        // With two passes over each level, this would take 2^60 steps.
        let root = (0..<60).reduce(Folder(name: "end", folders: [])) {
            Folder(name: "\($1)", folders: [$0])
        }
        let store = DictionaryRecordSource()
        try store.store(Drive(root: root))
        #expect(try store.read("Drive", as: Drive.self).get().root == root)
    }

    @Test("Reading counts depth as writing does")
    func readingDepth() throws {
        let source = DictionaryRecordSource()
        try source.store(Self.chain(9))
        #expect(throws: Never.self) {
            try source.read("8", as: Link.self, limits: limits { $0.maximumDepth = 10 }).get()
        }
        let result = source.read("8", as: Link.self, limits: limits { $0.maximumDepth = 9 })
        guard case .failure(.tooDeep) = result else { Issue.record("\(result)"); return }
    }

    @Test("A tree of 10,000 levels is too deep, and an endless one stops before the stack's end")
    func deepTree() throws {
        #expect(throws: FlattenError.tooDeep(limit: 256)) {
            try DictionaryRecordSource.flatten(Descending(number: 0, last: 10_000))
        }
        let unlimited = limits { $0.maximumDepth = .max }
        for stackSize in [512 << 10, 1 << 20, 8 << 20] {
            let error = onThread(stackSize: stackSize) { () -> FlattenError? in
                do {
                    _ = try DictionaryRecordSource.flatten(
                        Descending(number: 0, last: .max), limits: unlimited)
                    return nil
                } catch { return error as? FlattenError }
            }
            guard case .tooDeep = error else {
                Issue.record("\(stackSize): \(String(describing: error))"); continue
            }
        }
    }

    @Test("Records nested beyond the stack make the read a miss on any thread")
    func deepRead() throws {
        let source = Mutex(DictionaryRecordSource())
        source.withLock { source in
            for number in 0..<20_000 {
                let child = number == 19_999 ? nil : Link("\(number + 1)")
                try? source.store(Link("\(number)", child))
            }
        }
        let unlimited = limits { $0.maximumDepth = .max }
        for stackSize in [512 << 10, 1 << 20] {
            let miss = onThread(stackSize: stackSize) {
                source.withLock { source -> String? in
                    guard
                        case .failure(let reason) = source.read(
                            "0", as: Link.self, limits: unlimited)
                    else {
                        return nil
                    }
                    return reason.name
                }
            }
            #expect(miss == "tooDeep")
        }
    }

    @Test("The limits on nodes and bytes hold in writing and in reading")
    func sizes() throws {
        let page = Page(
            id: "p", list: (0..<100).map { Leaf("\($0)", String(repeating: "x", count: 100)) })
        #expect(throws: Never.self) {
            try DictionaryRecordSource.flatten(page, limits: limits { $0.maximumNodes = 101 })
        }
        #expect(throws: FlattenError.tooManyNodes(limit: 100)) {
            try DictionaryRecordSource.flatten(page, limits: limits { $0.maximumNodes = 100 })
        }
        #expect(throws: FlattenError.treeTooLarge(limit: 5_000)) {
            try DictionaryRecordSource.flatten(page, limits: limits { $0.maximumBytes = 5_000 })
        }
        let source = DictionaryRecordSource()
        try source.store(page)
        for limit in [limits { $0.maximumNodes = 100 }, limits { $0.maximumBytes = 5_000 }] {
            guard case .failure(.tooLarge) = source.read("p", as: Page.self, limits: limit) else {
                Issue.record("\(limit) did not hold")
                continue
            }
        }
        #expect(
            try source.read("p", as: Page.self, limits: limits { $0.maximumNodes = 101 }).get()
                == page)
    }

    @Test("A failed flattening leaves nothing behind in the flattener")
    func failedFlattening() throws {
        let flattener = Flattener(limits: limits { $0.maximumDepth = 10 })
        #expect(throws: FlattenError.self) {
            try flattener.value { try Self.chain(20).encodeValue(into: $0) }
        }
        _ = flattener.finish()
        _ = try flattener.value { try Self.chain(9).encodeValue(into: $0) }
        let nodes = flattener.finish().nodes
        #expect(nodes.count == 10)
        #expect(nodes.allSatisfy { !$0.isOnCycle })
    }

    private func onThread<Value: Sendable>(stackSize: Int, _ body: @escaping @Sendable () -> Value)
        -> Value?
    {
        let result = Mutex<Value?>(nil)
        let box = Box(result)
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            let value = body()
            box.value.withLock { $0 = value }
            done.signal()
        }
        thread.stackSize = stackSize
        thread.start()
        done.wait()
        return box.value.withLock { $0 }
    }

    private final class Box<Value: Sendable>: Sendable {
        let value: Mutex<Value?>
        init(_ value: consuming Mutex<Value?>) { self.value = value }
    }

    /// Makes its child when it is encoded: the release of a chain in memory would overflow the
    /// stack.
    private struct Descending: NormalizedModel {
        let number: Int
        let last: Int
        var modelIdentifier: String? { "\(number)" }

        init(number: Int, last: Int) { (self.number, self.last) = (number, last) }
        init(from decoder: inout RecordDecoder) throws { (number, last) = (0, 0) }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(
                number < last ? Descending(number: number + 1, last: last) : nil, forKey: "next")
        }
    }
}
