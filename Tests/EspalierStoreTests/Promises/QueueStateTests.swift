import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("The queue of writes as a value")
struct QueueStateTests {
    /// What a queue of a few writes, each of one of five kinds, does; every sequence of steps is
    /// tried.
    private struct Walk {
        enum Kind: CaseIterable {
            case plain, keyed, otherKey, delete, long
        }

        var state = QueueState(limit: 2 * PendingWrite.assumedBytes + 10)
        var added: [PendingWrite] = []
        var longs: Set<UInt64> = []
        var taken: [PendingWrite] = []
        var finished: Set<UInt64> = []
        /// Coalesced, by the write that stands for it.
        var standIns: [UInt64: UInt64] = [:]

        private static func key(_ name: String) -> CoalescingKey {
            CoalescingKey(nameSpace: .node, name: name, projection: "P")
        }

        mutating func add(_ kind: Kind) {
            let key: CoalescingKey? =
                switch kind {
                case .keyed: Self.key("a")
                case .otherKey: Self.key("b")
                default: nil
                }
            let write = PendingWrite(
                sequence: state.nextSequence(), coalescingKey: key, isDroppable: kind != .delete
            ) { .barrier }
            if kind == .long { longs.insert(write.sequence) }
            added.append(write)
            note(state.add(write))
        }

        mutating func measureNext() {
            guard let sequence = longs.popFirst() else { return }
            note(state.measure(added[Int(sequence) - 1], bytes: 3 * PendingWrite.assumedBytes))
        }

        mutating func take(_ count: Int) { taken += state.take(atMost: count) }

        /// The one added last, by whoever waits for it.
        mutating func takeAwaited() {
            guard let write = added.last else { return }
            let isNext = state.waiting.first === write && finished.count == added.count - 1
            let isTaken = state.take(next: write)
            #expect(isTaken == isNext)
            if isTaken { taken.append(write) }
        }

        mutating func finishOne() {
            guard !taken.isEmpty else { return }
            let write = taken.removeFirst()
            state.finish([write])
            finish(write.sequence)
        }

        private mutating func finish(_ sequence: UInt64) {
            finished.insert(sequence)
            for (old, new) in standIns where new == sequence { finish(old) }
        }

        private mutating func note(_ displaced: QueueState.Displaced) {
            for (old, new) in displaced.coalesced {
                #expect(old.coalescingKey == new.coalescingKey && old.sequence < new.sequence)
                let between = added[Int(old.sequence)..<Int(new.sequence) - 1]
                let isFenced = between.contains { !$0.isDroppable }
                #expect(!isFenced, "coalesced across what may not be dropped")
                standIns[old.sequence] = new.sequence
            }
            for write in displaced.dropped {
                #expect(write.isDroppable)
                #expect(write !== added.last, "the newest stays")
                finish(write.sequence)
            }
        }

        func check() {
            let waiting = state.waiting
            #expect(waiting.map(\.sequence) == waiting.map(\.sequence).sorted(), "order of write")
            let gone = finished.union(standIns.keys).union(taken.map(\.sequence))
            let left = added.filter { !gone.contains($0.sequence) }
            #expect(waiting.map(\.sequence) == left.map(\.sequence), "nothing gets lost")
            let firstUnfinished =
                added.first { !finished.contains($0.sequence) }?.sequence ?? state.submitted + 1
            #expect(state.finished == firstUnfinished - 1)
            let droppable = waiting.dropLast().contains(where: \.isDroppable)
            #expect(
                state.byteCount <= state.limit || !droppable, "full, and something could be dropped"
            )
            #expect(state.byteCount >= 0)
        }
    }

    @Test("keeps order, gives way oldest first, never drops a delete, and knows what is finished")
    func everySequence() {
        let count = withEveryChoice { choices in
            var walk = Walk()
            for _ in 0..<5 {
                let step = choices.choose(Walk.Kind.allCases.count + 4)
                switch step {
                case 0: walk.measureNext()
                case 1: walk.take(1)
                case 2: walk.finishOne()
                case 3: walk.takeAwaited()
                default: walk.add(Walk.Kind.allCases[step - 4])
                }
                walk.check()
            }
        }
        #expect(count == 59_049)
    }

    @Test("what was put back is next again, and counted")
    func putBack() {
        var state = QueueState(limit: 1 << 20)
        let writes = (0..<4).map { _ in
            let write = PendingWrite(
                sequence: state.nextSequence(), coalescingKey: nil, isDroppable: true
            ) {
                .barrier
            }
            _ = state.add(write)
            return write
        }
        let taken = state.take(atMost: 3)
        #expect(state.byteCount == PendingWrite.assumedBytes)
        state.putBack(Array(taken.dropFirst()), bytes: [10, 20])
        #expect(state.byteCount == PendingWrite.assumedBytes + 30)
        #expect(state.waiting.map(\.sequence) == writes.dropFirst().map(\.sequence))
        state.finish([taken[0]])
        #expect(state.finished == 1)
    }

    @Test("identifiers that Swift takes for one string are two keys")
    func canonicalEquivalence() {
        var state = QueueState(limit: 2 * PendingWrite.assumedBytes)
        for name in ["e\u{301}", "\u{E9}", "x"] {
            let key = CoalescingKey(nameSpace: .node, name: name, projection: "P")
            let write = PendingWrite(
                sequence: state.nextSequence(), coalescingKey: key, isDroppable: true
            ) {
                .barrier
            }
            #expect(state.add(write).coalesced.isEmpty)
        }
    }
}
