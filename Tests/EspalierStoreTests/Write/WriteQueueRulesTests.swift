import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("The rules of the write queue")
struct WriteQueueRulesTests {
    /// A write of one node, or of several.
    private static func operation(_ identifiers: [String]) throws -> WriteOperation {
        let flattener = Flattener()
        let drafts = try identifiers.map { identifier in
            try flattener.value {
                try ModelStorage.encode(Person(identifier, identifier), into: $0)
            }
        }
        return .nodes(flattener.finish(), roots: drafts.flatMap(\.children))
    }

    private static func key(_ name: String) -> CoalescingKey {
        CoalescingKey(nameSpace: .node, name: name, projection: "P")
    }

    /// Runs every sequence of steps on a queue that holds a few writes, each of one of six kinds,
    /// and checks the rules after each step.
    private struct Walk {
        enum Kind: CaseIterable {
            /// Has no key.
            case plain
            /// Writes the node `a`.
            case one
            /// Writes the nodes `a` and `b` under the key of `a`.
            case two
            /// Writes the node `c`.
            case other
            case delete
            /// Turns out to be long.
            case long
        }

        var rules = WriteQueueRules(limit: 2 * PendingWrite.assumedByteCount + 10)
        var added: [PendingWrite] = []
        var kinds: [Kind] = []
        var longs: Set<UInt64> = []
        var taken: [PendingWrite] = []
        var finished: Set<UInt64> = []
        /// The writes that were left out, each with the one that overwrites it.
        var overwritten: [UInt64: UInt64] = [:]
        /// The bytes that the queue may hold after the last step; nil if that step decided nothing.
        var allowed: Int?

        mutating func add(_ kind: Kind) {
            let key: CoalescingKey? =
                switch kind {
                case .one, .two: WriteQueueRulesTests.key("a")
                case .other: WriteQueueRulesTests.key("c")
                default: nil
                }
            let names =
                switch kind {
                case .one: ["a"]
                case .two: ["a", "b"]
                default: ["c"]
                }
            let write = PendingWrite(
                sequence: rules.nextSequence(), coalescingKey: key, isDroppable: kind != .delete
            ) { try WriteQueueRulesTests.operation(names) }
            if kind == .long { longs.insert(write.sequence) }
            added.append(write)
            kinds.append(kind)
            handle(rules.add(write))
        }

        mutating func measureNext() {
            guard let sequence = longs.popFirst() else { return }
            let write = added[Int(sequence) - 1]
            handle(rules.measure([(write, 3 * PendingWrite.assumedByteCount)]))
        }

        /// Flattens the oldest write that is not flattened.
        mutating func flattenNext() {
            guard let write = added.first(where: { !$0.isFlattened }) else { return }
            write.flatten()
            handle(rules.measure([(write, PendingWrite.assumedByteCount)]))
        }

        mutating func take(_ count: Int) { taken += rules.take(atMost: count) }

        /// Takes the write that was added last, as a thread does that waits for it.
        mutating func takeAwaited() {
            guard let write = added.last else { return }
            let isNext = rules.waiting.first === write && finished.count == added.count - 1
            let isTaken = rules.take(next: write)
            #expect(isTaken == isNext)
            if isTaken { taken.append(write) }
        }

        mutating func finishOne() {
            guard !taken.isEmpty else { return }
            let write = taken.removeFirst()
            let sharing = rules.sharingResult(of: write).map(\.sequence)
            rules.finish([write])
            finish(write.sequence)
            #expect(sharing.allSatisfy(finished.contains), "All that share a result are finished")
        }

        private mutating func finish(_ sequence: UInt64) {
            finished.insert(sequence)
            for (old, new) in overwritten where new == sequence { finish(old) }
        }

        private mutating func handle(_ overflow: WriteQueueRules.Overflow) {
            for write in overflow.leftOut {
                let (old, key) = (Int(write.sequence) - 1, write.coalescingKey)
                let new = added.indices.first { $0 > old && added[$0].coalescingKey == key }
                guard let new else {
                    Issue.record("A write was left out that no later one overwrites")
                    continue
                }
                #expect(kinds[old] != .two || kinds[new] == .two, "A node was lost")
                #expect(write.isFlattened && added[new].isFlattened)
                let isFenced = added[old...new].contains { !$0.isDroppable }
                #expect(!isFenced, "A write was left out across one that must not be dropped")
                overwritten[write.sequence] = added[new].sequence
            }
            for write in overflow.dropped {
                #expect(write.isDroppable)
                #expect(write !== added.last, "The newest write stays")
                finish(write.sequence)
            }
            allowed = (overflow.undecided.isEmpty ? 1 : 2) * rules.limit
        }

        func check() {
            let waiting = rules.waiting
            #expect(waiting.map(\.sequence) == waiting.map(\.sequence).sorted(), "Order of writes")
            let gone = finished.union(overwritten.keys).union(taken.map(\.sequence))
            let left = added.filter { !gone.contains($0.sequence) }
            #expect(waiting.map(\.sequence) == left.map(\.sequence), "Nothing gets lost")
            let firstUnfinished =
                added.first { !finished.contains($0.sequence) }?.sequence ?? rules.submitted + 1
            #expect(rules.finished == firstUnfinished - 1)
            let droppable = waiting.dropLast().contains(where: \.isDroppable)
            #expect(
                rules.byteCount <= allowed ?? .max || !droppable,
                "The queue is full, and something could be dropped")
            #expect(rules.byteCount >= 0)
        }
    }

    @Test(
        """
        A queue keeps order, drops the oldest first and never a delete, leaves out only what is \
        overwritten whole, and knows what is finished
        """)
    func everySequence() {
        let count = withEveryChoice { choices in
            var walk = Walk()
            for _ in 0..<5 {
                let step = choices.choose(Walk.Kind.allCases.count + 5)
                walk.allowed = nil
                switch step {
                case 0: walk.measureNext()
                case 1: walk.take(1)
                case 2: walk.finishOne()
                case 3: walk.takeAwaited()
                case 4: walk.flattenNext()
                default: walk.add(Walk.Kind.allCases[step - 5])
                }
                walk.check()
            }
        }
        #expect(count == 161_051)
    }

    @Test("Of three writes of one entry the last shares its result with the other two")
    func chain() throws {
        var rules = WriteQueueRules(limit: 2 * PendingWrite.assumedByteCount)
        let writes = (0..<3).map { _ in
            PendingWrite(
                sequence: rules.nextSequence(), coalescingKey: Self.key("a"), isDroppable: true
            ) { try Self.operation(["a"]) }
        }
        for write in writes {
            write.flatten()
            #expect(rules.add(write).dropped.isEmpty)
        }
        // The third submission leaves out the first write, and the measurement the second.
        _ = rules.measure([(writes[2], 4 * PendingWrite.assumedByteCount)])
        let taken = rules.take(atMost: 3)
        #expect(taken.map(\.sequence) == [3])
        #expect(rules.sharingResult(of: taken[0]).map(\.sequence) == [1, 2, 3])
        rules.finish(taken)
        #expect(rules.finished == 3)
    }

    @Test("A dropped write fails the writes that it would have overwritten, too")
    func droppedChain() throws {
        var rules = WriteQueueRules(limit: 2 * PendingWrite.assumedByteCount)
        func add(_ name: String?) -> WriteQueueRules.Overflow {
            let write = PendingWrite(
                sequence: rules.nextSequence(), coalescingKey: name.map(Self.key),
                isDroppable: true
            ) { try Self.operation([name ?? "x"]) }
            write.flatten()
            return rules.add(write)
        }
        for name in ["a", "a"] { #expect(add(name).leftOut.isEmpty) }
        #expect(add(nil).leftOut.map(\.sequence) == [1])
        let overflow = add(nil)
        #expect(overflow.dropped.map(\.sequence) == [1, 2])
        #expect(rules.finished == 2)
    }

    @Test("A queue holds at most twice its limit while it does not know what is overwritten")
    func undecided() {
        var rules = WriteQueueRules(limit: 4 * PendingWrite.assumedByteCount)
        var dropped = 0
        for _ in 0..<100 {
            let write = PendingWrite(
                sequence: rules.nextSequence(), coalescingKey: Self.key("a"), isDroppable: true
            ) { .barrier }
            dropped += rules.add(write).dropped.count
            #expect(rules.byteCount <= 2 * rules.limit)
        }
        #expect(dropped == 100 - 8)
    }

    @Test("Writes that were put back are the next again, and count as large as they are")
    func putBack() {
        var rules = WriteQueueRules(limit: 1 << 20)
        let writes = (0..<4).map { _ in
            let write = PendingWrite(
                sequence: rules.nextSequence(), coalescingKey: nil, isDroppable: true
            ) {
                .barrier
            }
            _ = rules.add(write)
            return write
        }
        let taken = rules.take(atMost: 3)
        #expect(rules.byteCount == PendingWrite.assumedByteCount)
        // The writer has flattened the second write, and has not begun with the third.
        taken[1].flatten()
        rules.putBack(taken.dropFirst())
        #expect(
            rules.byteCount == 2 * PendingWrite.assumedByteCount
                + WriteOperation.barrier.byteCount)
        #expect(rules.waiting.map(\.sequence) == writes.dropFirst().map(\.sequence))
        rules.finish([taken[0]])
        #expect(rules.finished == 1)
    }

    @Test("A full queue drops writes for the true size of one that was put back")
    func putBackLong() {
        var rules = WriteQueueRules(limit: 8 * PendingWrite.assumedByteCount)
        func add(_ name: String) -> WriteQueueRules.Overflow {
            let write = PendingWrite(
                sequence: rules.nextSequence(), coalescingKey: nil, isDroppable: true
            ) { try Self.operation([name]) }
            return rules.add(write)
        }
        let long = String(repeating: "x", count: 16 * PendingWrite.assumedByteCount)
        #expect(add(long).dropped.isEmpty)
        let taken = rules.take(atMost: 1)
        taken[0].flatten()
        rules.putBack(taken)
        #expect(rules.byteCount > rules.limit)
        #expect(add("a").dropped.map(\.sequence) == [1])
        #expect(rules.byteCount <= rules.limit)
    }

    @Test("Identifiers that Swift takes for one string are two keys")
    func canonicalEquivalence() {
        var rules = WriteQueueRules(limit: 2 * PendingWrite.assumedByteCount)
        for name in ["e\u{301}", "\u{E9}", "x"] {
            let write = PendingWrite(
                sequence: rules.nextSequence(), coalescingKey: Self.key(name), isDroppable: true
            ) { try Self.operation(["a"]) }
            write.flatten()
            #expect(rules.add(write).leftOut.isEmpty)
        }
    }
}
