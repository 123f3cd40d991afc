import Testing

@testable import Counting

@Suite("Counts of instructions are held against thresholds")
struct VerdictsTests {
    private let read = Verdicts.Subject(name: "read", tolerance: 0.03)

    private func verdict(_ count: Int?, threshold: Int?) -> Verdicts.Verdict {
        let counts = Counts(byName: count.map { ["read": $0] } ?? [:])
        let thresholds = Counts(byName: threshold.map { ["read": $0] } ?? [:])
        let verdicts = Verdicts(counts: counts, thresholds: thresholds, subjects: [read])
        let verdict = verdicts.verdict(on: read)
        #expect(verdicts.isKept == (verdict == .kept))
        return verdict
    }

    @Test("what is within the tolerance is kept")
    func kept() {
        for count in [97_000, 99_900, 100_000, 103_000] {
            #expect(verdict(count, threshold: 100_000) == .kept)
        }
    }

    @Test("more fails, and so does less, until it is recorded")
    func broken() {
        #expect(verdict(103_100, threshold: 100_000) == .worse)
        #expect(verdict(96_900, threshold: 100_000) == .better)
    }

    @Test("what has no threshold, or was not counted, fails")
    func unknown() {
        #expect(verdict(100_000, threshold: nil) == .unknown)
        #expect(verdict(nil, threshold: 100_000) == .unknown)
    }

    @Test("a line of the table says what was broken")
    func table() {
        let verdicts = Verdicts(
            counts: Counts(byName: ["read": 200]), thresholds: Counts(byName: ["read": 100]),
            subjects: [read])
        #expect(verdicts.table.contains("+100.00 %  WORSE"))
    }
}
