import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("The state of a record")
struct StateEntryTests {
    private func read(_ bytes: [UInt8], _ handle: Handle) throws -> StateEntry {
        try ByteReader.reading(bytes) { reader in
            let entry = try StateEntry(reading: &reader, for: handle)
            return entry
        }
    }

    @Test("A state entry is read as it was written, with any flags, counts, stamps and times")
    func roundTrip() throws {
        var random = SeededGenerator(quietly: 3)
        let numbers: [UInt64] = [0, 1, 127, 128, 1 << 32, .max - 1, .max]
        for flags in UInt8.min ... .max {
            for _ in 0..<8 {
                var entry = StateEntry(
                    referenceCount: numbers.randomElement(using: &random) ?? 0,
                    stamp: Stamp(numbers.randomElement(using: &random) ?? 0),
                    flags: .init(rawValue: flags))
                if entry.flags.contains(.timed) {
                    entry.writtenAt = numbers.randomElement(using: &random) ?? 0
                    entry.expiry = numbers.randomElement(using: &random) ?? 0
                }
                if entry.flags.contains(.pendingRemoval) {
                    entry.released = numbers.randomElement(using: &random) ?? 0
                }
                let handle = Handle(numbers.randomElement(using: &random) ?? 0)
                #expect(try read(entry.bytes(for: handle), handle) == entry)
            }
        }
    }

    @Test("A state entry of another record, cut short, or with any bit changed is rejected")
    func damage() throws {
        var entry = StateEntry(
            referenceCount: 3, stamp: Stamp(700), flags: [.pendingRemoval, .tombstone])
        entry.released = 64
        let bytes = entry.bytes(for: Handle(5))
        #expect(throws: FormatError.self) { try read(bytes, Handle(6)) }
        for count in 0..<bytes.count {
            #expect(throws: FormatError.self) { try read(Array(bytes.prefix(count)), Handle(5)) }
        }
        for bit in 0..<bytes.count * 8 {
            var bytes = bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: FormatError.self) { try read(bytes, Handle(5)) }
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
        #expect(stamp(1, [.pendingRemoval, .blocked]) == nil)
    }

    @Test("Dropping a reference unblocks a record, and its count never falls below zero")
    func drop() {
        var entry = StateEntry(referenceCount: 2, stamp: Stamp(4), flags: [.onCycle, .blocked])
        entry.dropReference()
        #expect(entry == StateEntry(referenceCount: 1, stamp: Stamp(4), flags: .onCycle))
        entry.dropReference()
        entry.dropReference()
        #expect(entry == StateEntry(referenceCount: 0, stamp: Stamp(4), flags: .onCycle))
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
