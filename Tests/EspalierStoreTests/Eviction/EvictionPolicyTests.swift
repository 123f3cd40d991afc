import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("The eviction rule")
struct EvictionPolicyTests {
    private func isRight(
        _ graph: MemoryGraph, _ handle: Handle, regardlessOfAge: Bool = false,
        searchLimit: Int = 100, memberLimit: Int = 100
    ) throws -> Bool {
        let step = try step(
            handle, graph, regardlessOfAge: regardlessOfAge, searchLimit: searchLimit,
            memberLimit: memberLimit)
        let expected = graph.expectedStep(
            for: handle, regardlessOfAge: regardlessOfAge, searchLimit: searchLimit,
            memberLimit: memberLimit)
        let isRight = step == expected
        if !isRight { Issue.record("\(graph): \(handle) gets \(step) instead of \(expected)") }
        return isRight
    }

    private func step(
        _ handle: Handle, _ graph: some EvictionGraph, regardlessOfAge: Bool = false,
        searchLimit: Int = 100, memberLimit: Int = 100
    ) throws -> EvictionStep {
        var known = KnownCycles()
        return try EvictionPolicy.step(
            for: handle, in: graph, regardlessOfAge: regardlessOfAge, searchLimit: searchLimit,
            memberLimit: memberLimit, known: &known)
    }

    /// Adds random references from outside, few enough that many cycles have none.
    private func fill(_ graph: inout MemoryGraph, _ random: inout SeededGenerator) {
        for record in 0..<graph.count {
            let bits = random.next()
            graph.outside[record] = bits & 7 == 0 ? bits >> 3 & 3 : 0
            graph.stamps[record] = bits >> 8 & 3
            graph.flags[record] = StateEntry.Flags(
                rawValue: UInt8(truncatingIfNeeded: bits >> 16) & 0b100_0100)
            if bits >> 24 & 15 == 0 { graph.flags[record].insert(.pendingRemoval) }
        }
    }

    @Test(
        "The eviction rule follows its definition on every graph of up to three records",
        arguments: 1...3)
    func small(count: Int) throws {
        var random = SeededGenerator(quietly: UInt64(count))
        for edges in 0..<UInt64(1) << UInt64(count * count) {
            var graph = MemoryGraph(count: count, edges: edges)
            for _ in 0..<8 {
                fill(&graph, &random)
                for record in 1...count {
                    let handle = Handle(UInt64(record))
                    for limit in 1...count {
                        guard try isRight(graph, handle, searchLimit: limit),
                            try isRight(graph, handle, memberLimit: limit)
                        else { return }
                    }
                    guard try isRight(graph, Handle(UInt64(record)), regardlessOfAge: true) else {
                        return
                    }
                }
            }
        }
    }

    @Test("The eviction rule follows its definition on every graph of four records")
    func four() throws {
        var random = SeededGenerator(quietly: 4)
        for edges in 0..<UInt64(1) << 16 {
            var graph = MemoryGraph(count: 4, edges: edges)
            fill(&graph, &random)
            // One record is enough: the graphs include every permutation of their records.
            let choice = random.next()
            let isRight = try isRight(
                graph, Handle(choice % 4 + 1), regardlessOfAge: choice >> 8 & 3 == 0,
                searchLimit: choice >> 16 & 3 == 0 ? Int(choice >> 24 % 4 + 1) : 4)
            guard isRight else { return }
        }
    }

    @Test("The eviction rule follows its definition on thousands of graphs of up to twelve records")
    func many() throws {
        var random = SeededGenerator(quietly: 12)
        for _ in 0..<3_000 {
            let count = Int(random.next() % 8) + 5
            var edges: UInt64 = random.next() & random.next() & random.next()
            if count > 8 { edges &= random.next() }
            // A number has only 64 bits for edges, so the last records of a large graph have no
            // children.
            var graph = MemoryGraph(count: count, edges: edges)
            fill(&graph, &random)
            let handle = Handle(random.next() % UInt64(count) + 1)
            guard try isRight(graph, handle), try isRight(graph, handle, memberLimit: 3) else {
                return
            }
        }
    }

    @Test("What a search has found changes only the steps of what leads to large cycles")
    func known() throws {
        var random = SeededGenerator(quietly: 8)
        var detached = 0
        for _ in 0..<3_000 {
            var graph = MemoryGraph(count: 8, edges: random.next() & random.next() & random.next())
            fill(&graph, &random)
            var exact = KnownCycles(shortestSearch: 0)
            var limited = KnownCycles(shortestSearch: 0)
            for number in 1...UInt64(8) {
                let handle = Handle(number)
                let expected = graph.expectedStep(for: handle)
                let step = try EvictionPolicy.step(for: handle, in: graph, known: &exact)
                #expect(step == expected)
                let other = try EvictionPolicy.step(
                    for: handle, in: graph, memberLimit: 3, known: &limited)
                guard case .detach = other else {
                    #expect(other == graph.expectedStep(for: handle, memberLimit: 3))
                    continue
                }
                detached += 1
                #expect(graph.leadsToCycle(handle, ofMoreThan: 3))
            }
        }
        #expect(detached > 100)
    }

    @Test("The eviction rule detaches beyond its limits, and continues pending removals")
    func corners() throws {
        // 1 -> 2 -> 3 -> 1
        var ring = MemoryGraph(count: 3, edges: 0b001_100_010)
        ring.stamps = [5, 7, 6]
        #expect(try step(Handle(1), ring, searchLimit: 2) == .detach(Handle(1)))
        #expect(try step(Handle(1), ring, memberLimit: 2) == .detach(Handle(1)))
        #expect(try step(Handle(1), ring, searchLimit: 3) == .relist(Handle(1), stamp: Stamp(7)))
        let all: [Handle] = [Handle(1), Handle(2), Handle(3)]
        #expect(try step(Handle(2), ring) == .evict(all, stamp: Stamp(7)))
        #expect(
            try step(Handle(1), ring, regardlessOfAge: true) == .evict(all, stamp: Stamp(7)))
        ring.outside[2] = 1
        #expect(try step(Handle(2), ring) == .block(Handle(2), externalReferences: [Handle(3)]))
        ring.flags[1] = .pendingRemoval
        #expect(try step(Handle(2), ring) == .release(Handle(2)))
    }

    @Test("The eviction rule reads no children where counts alone decide")
    func lazy() throws {
        struct Blind: EvictionGraph {
            struct Looked: Error {}
            let entry: StateEntry
            func entry(_ handle: Handle) -> StateEntry { entry }
            func children(_ handle: Handle) throws -> [Handle] { throw Looked() }
        }
        let root = Blind(entry: StateEntry(referenceCount: 0, stamp: Stamp(3), flags: .onCycle))
        #expect(
            try step(Handle(1), root) == .evict([Handle(1)], stamp: Stamp(3)))
        let pendingRemoval = Blind(
            entry: StateEntry(referenceCount: 2, flags: [.pendingRemoval, .tombstone]))
        #expect(try step(Handle(1), pendingRemoval) == .release(Handle(1)))
        #expect(throws: Blind.Looked.self) {
            try step(Handle(1), Blind(entry: StateEntry()))
        }
    }
}

@Suite("The cycle through a record")
struct CycleThroughTests {
    private func through(_ start: UInt64, limit: Int = 1 << 15, _ edges: [UInt64: [UInt64]])
        -> [UInt64: UInt64]?
    {
        var search = CycleSearch(from: Handle(start), memberLimit: .max)
        let isComplete = search.run(limit: limit, known: KnownCycles()) {
            (edges[$0.rawValue] ?? []).map { Handle($0) }
        }
        guard isComplete else { return nil }
        return Dictionary(
            uniqueKeysWithValues: search.members.map { ($0.rawValue, search.references(to: $0)) })
    }

    @Test("The cycle through a record has exactly the records that lead back to it")
    func members() {
        // 9 refers to the cycle 1, 2, 3. 4 and 5 can be reached from it and do not lead back.
        let edges: [UInt64: [UInt64]] = [1: [2, 4], 2: [3, 1], 3: [1, 5], 4: [5], 9: [1, 2]]
        #expect(through(1, edges) == [1: 2, 2: 1, 3: 1])
        #expect(through(2, edges) == [1: 2, 2: 1, 3: 1])
        #expect(through(4, edges) == [:])
        #expect(through(9, edges) == [:])
    }

    @Test("A record that leads to a cycle does not belong to it")
    func below() {
        let edges: [UInt64: [UInt64]] = [1: [2], 2: [3], 3: [2]]
        #expect(through(1, edges) == [:])
        #expect(through(2, edges) == [2: 1, 3: 1])
    }

    @Test("A record that refers only to itself is a cycle of one")
    func itself() {
        #expect(through(1, [1: [1]]) == [1: 1])
        #expect(through(1, limit: 1, [1: [1]]) == [1: 1])
        #expect(through(1, [1: [1, 2], 2: [2]]) == [1: 1])
        #expect(through(1, [:]) == [:])
    }

    @Test(
        "The search for a cycle ends when more records than its limit can be reached",
        arguments: [2, 3, 100, 5_000])
    func limits(count: UInt64) {
        let ring = Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, [($0 + 1) % count]) })
        #expect(through(0, limit: Int(count), ring)?.count == Int(count))
        #expect(through(0, limit: Int(count) - 1, ring) == nil)
        let chain = Dictionary(uniqueKeysWithValues: (0..<count - 1).map { ($0, [$0 + 1]) })
        #expect(through(0, limit: Int(count), chain) == [:])
        #expect(through(0, limit: Int(count) - 1, chain) == nil)
        #expect(through(count - 1, limit: 1, chain) == [:])
    }

    @Test("The search for a cycle reads the children of each record once, and does not recurse")
    func ladder() {
        // A ladder with 2^20,000 paths.
        let count: UInt64 = 20_000
        var looks = 0
        var search = CycleSearch(from: Handle(0), memberLimit: .max)
        let isComplete = search.run(limit: 1 << 20, known: KnownCycles()) { handle -> [Handle] in
            looks += 1
            let next = (handle.rawValue / 2 + 1) * 2
            return next >= count * 2 ? [Handle(0)] : [Handle(next), Handle(next + 1)]
        }
        #expect(looks == Int(count) * 2 - 1)
        #expect(isComplete)
        #expect(search.members.count == looks)
    }

    @Test("The search for a cycle throws the error that reading a record throws")
    func failure() {
        struct Unreadable: Error {}
        #expect(throws: Unreadable.self) {
            var search = CycleSearch(from: Handle(1), memberLimit: .max)
            _ = try search.run(limit: 10, known: KnownCycles()) { handle in
                if handle == Handle(2) { throw Unreadable() }
                return [Handle(2)]
            }
        }
    }
}

/// A graph of a few records in memory, with the step of each by definition: from all paths.
struct MemoryGraph: EvictionGraph {
    /// Handles 1 to `count`.
    let count: Int
    /// Bit b of row a: record a + 1 refers to record b + 1.
    private let rows: [UInt64]
    /// References from outside the graph.
    var outside: [UInt64]
    var stamps: [UInt64]
    var flags: [StateEntry.Flags]

    /// Bit `count * a + b` of `edges` is an edge from record a + 1 to record b + 1.
    init(count: Int, edges: UInt64) {
        self.count = count
        rows = (0..<count).map { edges >> UInt64(count * $0) & (1 << UInt64(count) - 1) }
        outside = Array(repeating: 0, count: count)
        stamps = Array(repeating: 0, count: count)
        flags = Array(repeating: [], count: count)
    }

    func entry(_ handle: Handle) -> StateEntry {
        let record = index(handle)
        let inner = rows.count { $0 >> UInt64(record) & 1 == 1 }
        return StateEntry(
            referenceCount: outside[record] + UInt64(inner), stamp: Stamp(stamps[record]),
            flags: flags[record])
    }

    func children(_ handle: Handle) -> [Handle] { handles(rows[index(handle)]) }

    private func index(_ handle: Handle) -> Int { Int(handle.rawValue) - 1 }

    private func handles(_ bits: UInt64) -> [Handle] {
        (0..<count).filter { bits >> UInt64($0) & 1 == 1 }.map { Handle(UInt64($0) + 1) }
    }

    // MARK: By definition

    /// Bit b of row a: there is a path of one reference or more from a to b.
    private var paths: [UInt64] {
        var paths = rows
        for middle in 0..<count {
            for start in 0..<count where paths[start] >> UInt64(middle) & 1 == 1 {
                paths[start] |= paths[middle]
            }
        }
        return paths
    }

    /// Returns the strongly connected component of the handle; none if no path leads back to it.
    func component(of handle: Handle) -> [Handle] {
        let paths = paths
        let record = index(handle)
        return handles(paths[record]).filter { paths[index($0)] >> UInt64(record) & 1 == 1 }
    }

    /// Returns how many records can be reached from one, itself included.
    func reach(of handle: Handle) -> Int {
        (paths[index(handle)] | 1 << UInt64(index(handle))).nonzeroBitCount
    }

    /// Returns how many records of `group` refer to the handle.
    func references(to handle: Handle, within group: [Handle]) -> UInt64 {
        UInt64(group.count { children($0).contains(handle) })
    }

    /// Returns whether a record lies on a cycle of more records than `limit`, or leads to one.
    func leadsToCycle(_ handle: Handle, ofMoreThan limit: Int) -> Bool {
        handles(paths[index(handle)] | 1 << UInt64(index(handle))).contains {
            component(of: $0).count > limit
        }
    }

    func expectedStep(
        for handle: Handle, regardlessOfAge: Bool = false, searchLimit: Int = .max,
        memberLimit: Int = .max
    ) -> EvictionStep {
        let entry = entry(handle)
        if entry.flags.contains(.pendingRemoval) { return .release(handle) }
        if entry.referenceCount == 0 { return .evict([handle], stamp: entry.stamp) }
        let group = component(of: handle)
        guard reach(of: handle) <= searchLimit, group.count <= memberLimit else {
            return .detach(handle)
        }
        guard !group.isEmpty else { return .unflag(handle) }
        let externalReferences = group.filter {
            self.entry($0).referenceCount > references(to: $0, within: group)
        }
        guard externalReferences.isEmpty else {
            return .block(handle, externalReferences: externalReferences)
        }
        let newest = group.map { self.entry($0).stamp }.max() ?? entry.stamp
        return newest == entry.stamp || regardlessOfAge
            ? .evict(group, stamp: newest) : .relist(handle, stamp: newest)
    }
}
