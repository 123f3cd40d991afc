import Testing

@testable import EspalierRecords

@Suite("Sets of handles")
struct HandleSetTests {
    private static let types = [Int.self, String.self, Leaf.self].map { ObjectIdentifier($0) }

    @Test(
        "A handle is new once, then known, and known as another where the type differs",
        arguments: [1, 7, 8, 9, 48, 49, 64, 10_000])
    func insertion(count: UInt64) {
        var set = HandleSet()
        for number in 1...count {
            #expect(set.insert(Handle(number), Self.types[Int(number % 3)]) == .new)
            #expect(set.insert(Handle(number), Self.types[Int(number % 3)]) == .known)
            #expect(set.insert(Handle(number), Self.types[Int((number + 1) % 3)]) == .knownAsOther)
        }
        for number in (1...count).reversed() {
            #expect(set.insert(Handle(number), Self.types[Int(number % 3)]) == .known)
            #expect(set.insert(Handle(number), Self.types[Int((number + 2) % 3)]) == .knownAsOther)
        }
        #expect(set.insert(Handle(count + 1), Self.types[0]) == .new)
    }

    @Test(
        "A set of handles answers as a dictionary of handles and types does",
        arguments: 1...4 as ClosedRange<UInt64>)
    func oracle(seed: UInt64) {
        var random = Steps(state: seed)
        var set = HandleSet()
        var known: [UInt64: ObjectIdentifier] = [:]
        for _ in 0..<10_000 {
            // Small handles, handles that differ only in high bits, and random ones.
            let number =
                switch random.next() % 3 {
                case 0: random.next() % 500 + 1
                case 1: (random.next() % 500 + 1) << 50
                default: random.next() | 1
                }
            let type = Self.types[Int(random.next() % 3)]
            let expected: HandleSet.Insertion =
                known[number].map { $0 == type ? .known : .knownAsOther } ?? .new
            if set.insert(Handle(number), type) != expected {
                Issue.record("\(number) is not \(expected)")
            }
            known[number] = known[number] ?? type
        }
    }

    @Test("Handles that hash to one slot are told apart")
    func crowded() {
        // The bits of the product above the twentieth are those of `number`.
        let inverse = Self.inverse(of: 0x9E37_79B9_7F4A_7C15)
        let handles = (1...3_000 as ClosedRange<UInt64>).map { Handle(($0 << 44) &* inverse) }
        #expect(Set(handles).count == handles.count)
        var set = HandleSet()
        for handle in handles { #expect(set.insert(handle, Self.types[0]) == .new) }
        for handle in handles { #expect(set.insert(handle, Self.types[0]) == .known) }
        for handle in handles { #expect(set.insert(handle, Self.types[1]) == .knownAsOther) }
    }

    /// Returns the inverse modulo 2^64 by Newton's iteration: each step doubles the correct bits.
    private static func inverse(of odd: UInt64) -> UInt64 {
        (0..<6).reduce(odd) { inverse, _ in inverse &* (2 &- odd &* inverse) }
    }

    private struct Steps {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 5
        }
    }
}
