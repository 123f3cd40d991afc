import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("The state of a record")
struct StateEntryTests {
    private func read(_ bytes: [UInt8], _ key: Handle) throws -> StateGroup {
        try ByteReader.reading(bytes) { try StateGroup(reading: &$0, key: key) }
    }

    private static let numbers: [UInt64] = [
        0, 1, 126, 127, 128, 255, 1 << 32, .max - 1, .max,
    ]

    private func state(
        _ flags: StateEntry.Flags, _ random: inout SeededGenerator
    ) -> StateEntry {
        func number() -> UInt64 { Self.numbers.randomElement(using: &random) ?? 0 }
        var state = StateEntry(referenceCount: number(), stamp: Stamp(number()))
        // The bytes have two flags that an entry tells by its optional times.
        state.flags = flags.subtracting([.init(rawValue: 16), .init(rawValue: 128)])
        if flags.contains(.init(rawValue: 16)) { state.writtenAt = WriteTime(number()) }
        if flags.contains(.init(rawValue: 128)) { state.expiry = number() }
        if flags.contains(.pendingRemoval) { state.released = number() }
        return state
    }

    @Test("A group of states is read as it was written, with any flags, counts, stamps and times")
    func roundTrip() throws {
        var random = SeededGenerator(quietly: 3)
        for flags in UInt8.min ... .max {
            let key = Handle(Self.numbers.randomElement(using: &random) ?? 0)
            var group = StateGroup(key)
            var states: [Handle: StateEntry] = [:]
            for _ in 0..<8 {
                let most = min(UInt64.max - key.rawValue, 1 << 40)
                let handle = Handle(key.rawValue + UInt64.random(in: 0...most, using: &random))
                states[handle] = state(.init(rawValue: flags), &random)
                group.set(states[handle], of: handle)
            }
            let read = try read(group.bytes, key)
            #expect(read == group && read.entries.count == states.count)
            for (handle, state) in states { #expect(read[handle] == state) }
            for handle in states.keys.dropFirst() { group.set(nil, of: handle) }
            #expect(try self.read(group.bytes, key).entries.count == 1)
        }
    }

    @Test("The dates of a group are those of its states, in whatever runs they stand")
    func times() throws {
        var random = SeededGenerator(quietly: 4)
        for round in 0..<400 {
            let key = Handle(round == 0 ? .max - 70 : .random(in: 0...1_000, using: &random))
            var group = StateGroup(key)
            let written = (0..<3).map { _ in state(.init(rawValue: 144), &random) }
            var expected = StateEntry()
            for offset in UInt64(0)...70 {
                if Int.random(in: 0..<6, using: &random) == 0 {
                    expected = written.randomElement(using: &random) ?? .default
                }
                if Int.random(in: 0..<6, using: &random) == 0 { expected = .default }
                if Int.random(in: 0..<4, using: &random) == 0 { expected.referenceCount ^= 3 }
                let isStored = !expected.isDefault
                group.set(isStored ? expected : nil, of: Handle(key.rawValue + offset))
            }
            let bytes = group.bytes
            let times = try ByteReader.reading(bytes) { try StateTimes(reading: &$0, key: key) }
            #expect(times.last == group.last)
            for offset in UInt64(0)...70 {
                let handle = Handle(key.rawValue + offset)
                let state = group[handle]
                #expect(times[handle]?.writtenAt == state?.writtenAt?.rawValue)
                #expect(times[handle]?.maxAge == state?.expiry)
                #expect((times[handle] == nil) == (state == nil))
                guard let run = times[handle]?.handles else { continue }
                #expect(run.contains(handle))
                for other in run.lowerBound.rawValue...run.upperBound.rawValue {
                    #expect(group[Handle(other)]?.writtenAt == state?.writtenAt)
                    #expect(group[Handle(other)]?.expiry == state?.expiry)
                }
            }
            for count in 0..<min(20, bytes.count) {
                #expect(throws: FormatError.self) {
                    try ByteReader.reading(Array(bytes.prefix(count))) {
                        try StateTimes(reading: &$0, key: key)
                    }
                }
            }
        }
    }

    @Test("A group of states is split into groups that fit", arguments: [false, true])
    func split(areFull: Bool) throws {
        var random = SeededGenerator(quietly: 5)
        for count in [1, 2, 100, 330, 1_000] {
            var group = StateGroup(Handle(7))
            for index in 0..<UInt64(count) {
                let entry = state(index % 9 == 0 ? .lost : [], &random)
                group.set(entry, of: Handle(9 + index * 3))
            }
            let parts = group.split(ofBytes: group.bytes.count, areFull: areFull)
            #expect(parts.flatMap(\.entries) == group.entries)
            #expect(parts.first?.key == group.key)
            #expect(parts.dropFirst().allSatisfy { $0.key == $0.entries.first?.handle })
            let sizes = parts.map { $0.bytes.count }
            #expect(sizes.allSatisfy { $0 <= StateGroup.byteLimit })
            let few = sizes.filter { $0 < StateGroup.byteLimit * (areFull ? 9 : 4) / 10 }
            #expect(few.count <= 1, "\(sizes)")
        }
    }

    @Test("Changes to a group of states are those of its entries one by one")
    func apply() {
        var random = SeededGenerator(quietly: 6)
        for _ in 0..<200 {
            var group = StateGroup(Handle(100))
            var expected: [UInt64: StateEntry] = [:]
            for _ in 0..<3 {
                let handles = (0..<12).map { _ in UInt64.random(in: 100..<130, using: &random) }
                let changes = Set(handles).sorted().map { handle in
                    StateChange(
                        handle: Handle(handle),
                        state: Bool.random(using: &random) ? state([], &random) : nil)
                }
                group.apply(changes[...])
                for change in changes { expected[change.handle.rawValue] = change.state }
                #expect(
                    group.entries.map(\.handle.rawValue) == expected.keys.sorted()
                        && group.entries.allSatisfy { expected[$0.handle.rawValue] == $0.state })
            }
        }
    }

    @Test("A group of states of other records, cut short, or with any bit changed is rejected")
    func damage() throws {
        var group = StateGroup(Handle(640))
        let removed = StateEntry(
            referenceCount: 3, stamp: Stamp(700), flags: [.pendingRemoval, .tombstone])
        group.set(removed, of: Handle(641))
        group.set(StateEntry(referenceCount: 2), of: Handle(767))
        let bytes = group.bytes
        #expect(throws: FormatError.self) { try read(bytes, Handle(641)) }
        for count in 0..<bytes.count {
            #expect(throws: FormatError.self) { try read(Array(bytes.prefix(count)), Handle(640)) }
        }
        for bit in 0..<bytes.count * 8 {
            var bytes = bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: FormatError.self) { try read(bytes, Handle(640)) }
        }
    }

    @Test("A group of states whose handles do not ascend is rejected")
    func order() throws {
        for (key, differences): (UInt64, [UInt64]) in [(1, [3, 0]), (.max, [1]), (9, [1, .max])] {
            var writer = ByteWriter()
            for difference in differences {
                writer.append(varint: difference)
                writer.append([2, 0])
            }
            writer.append(integer: writer.check(seed: key))
            #expect(throws: FormatError.self) { try read(writer.bytes, Handle(key)) }
        }
    }

    @Test("Roots, unblocked records on cycles and pending removals stand in recency, and no others")
    func recencyStamp() {
        func stamp(_ references: UInt64, _ flags: StateEntry.Flags) -> UInt64? {
            StateEntry(referenceCount: references, stamp: Stamp(9), flags: flags).recencyStamp?
                .rawValue
        }
        #expect(stamp(0, []) == 9)
        #expect(stamp(1, []) == nil)
        #expect(stamp(0, .lost) == 9)
        #expect(stamp(2, .onCycle) == 9)
        #expect(stamp(2, [.onCycle, .blocked]) == nil)
        #expect(stamp(2, .blocked) == nil)
        #expect(stamp(0, [.onCycle, .blocked]) == 9)
        #expect(stamp(1, .tombstone) == nil)
        #expect(stamp(1, [.tombstone, .onCycle]) == nil)
        #expect(stamp(0, .pendingRemoval) == 0)
        #expect(stamp(1, [.pendingRemoval, .tombstone]) == 0)
        #expect(stamp(1, [.pendingRemoval, .tombstone, .onCycle]) == 0)
        #expect(stamp(1, .stub) == nil)
    }

    @Test("Dropping a reference unblocks a record, and its count never falls below zero")
    func drop() {
        var entry = StateEntry(referenceCount: 2, stamp: Stamp(4), flags: [.onCycle, .blocked])
        entry.dropReference()
        #expect(entry == StateEntry(referenceCount: 1, stamp: Stamp(4), flags: .onCycle))
        entry.dropReference()
        entry.dropReference()
        #expect(entry == StateEntry(referenceCount: 0, stamp: Stamp(4), flags: .onCycle))
        // A cut record is told from a damaged one as long as there is a reference to it.
        entry = StateEntry(referenceCount: 2, flags: .stub)
        entry.dropReference()
        #expect(entry == StateEntry(referenceCount: 1, flags: .stub))
    }

    @Test("A record whose age has no end does not expire, and its date overflows nothing")
    func endlessAge() {
        var entry = StateEntry(referenceCount: 0, stamp: Stamp(4))
        (entry.writtenAt, entry.expiry) = (WriteTime(10), 5)
        #expect(!entry.isExpiredRoot(at: 14) && entry.isExpiredRoot(at: 15))
        entry.expiry = .max
        #expect(!entry.isExpiredRoot(at: .max))
        var ages = TreeAges()
        ages.add(writtenAt: 10, maxAge: .max)
        #expect(ages.freshUntil == .max && ages.oldest == 10)
        // A maximum age of zero has passed, whatever the clock says.
        ages.add(writtenAt: 100, maxAge: 0)
        #expect(ages.freshUntil == 0)
    }

    @Test("Only a root that was never accessed is unstamped")
    func unstamped() {
        #expect(StateEntry.unreferenced.isUnstamped)
        #expect(!StateEntry.default.isUnstamped)
        #expect(!StateEntry(referenceCount: 0, stamp: Stamp(1)).isUnstamped)
        #expect(!StateEntry(referenceCount: 0, flags: .pendingRemoval).isUnstamped)
        #expect(!StateEntry(referenceCount: 0, flags: .tombstone).isUnstamped)
    }
}
