import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("Names that a transaction has not applied yet")
struct PendingNamesTests {
    /// Names that differ before, at and behind the byte up to which they are compared as numbers,
    /// and names that others begin with, with zeros at their ends among them.
    private static func names(_ random: inout SeededGenerator) -> Set<[UInt8]> {
        var names: Set<[UInt8]> = [[], [0], [0, 0], [0xFF]]
        let start = [UInt8]("namespace:123456".utf8)
        for count in [7, 8, 9, 15, 16] {
            names.insert(Array(start.prefix(count)))
            for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                names.insert(start.prefix(count) + [byte])
                names.insert(start.prefix(count) + [byte, 0])
            }
        }
        for _ in 0..<300 {
            let tail = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
                [0, 127, 254].randomElement(using: &random) ?? 0 as UInt8
            }
            names.insert(start.prefix(14) + tail)
        }
        return names
    }

    @Test("They are applied in the order of their bytes, and none is left out")
    func order() throws {
        var random = SeededGenerator(seed: .random(in: 0...999))
        let names = Self.names(&random)
        var pending = PendingNames()
        // A set has no order: each run adds them in another one.
        for (number, name) in names.enumerated() {
            pending.add(name, Handle(UInt64(number + 1)), mayBeCut: number.isMultiple(of: 2))
        }
        let known = Dictionary(
            uniqueKeysWithValues: try names.map { ($0, try present(pending.added($0)?.handle)) })
        let additions = pending.take().additions
        #expect(additions.map(\.key) == names.sorted { $0.lexicographicallyPrecedes($1) })
        for addition in additions { #expect(known[addition.key] == addition.handle) }
        #expect(pending.isEmpty)
    }

    @Test("A name that was added and removed again is left out")
    func removed() {
        var pending = PendingNames()
        pending.add([2], Handle(2), mayBeCut: false)
        pending.add([1], Handle(1), mayBeCut: false)
        pending.remove([2], Handle(2))
        let (removals, additions) = pending.take()
        #expect(additions.map(\.key) == [[1]])
        // It may stand in the file, too.
        #expect(removals.map(\.key) == [[2]])
    }
}
