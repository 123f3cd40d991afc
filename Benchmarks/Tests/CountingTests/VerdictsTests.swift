import Testing

@testable import Counting

@Suite("Verdicts on counts of instructions")
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

    @Test("A count within the tolerance keeps its threshold")
    func kept() {
        for count in [97_000, 99_900, 100_000, 103_000] {
            #expect(verdict(count, threshold: 100_000) == .kept)
        }
    }

    @Test("A count above or below the tolerance fails until it is recorded")
    func broken() {
        #expect(verdict(103_100, threshold: 100_000) == .worse)
        #expect(verdict(96_900, threshold: 100_000) == .better)
    }

    @Test("An operation fails that has no threshold or was not counted")
    func unknown() {
        #expect(verdict(100_000, threshold: nil) == .unknown)
        #expect(verdict(nil, threshold: 100_000) == .unknown)
    }

    @Test("The table names the threshold that was missed")
    func table() {
        let verdicts = Verdicts(
            counts: Counts(byName: ["read": 200]), thresholds: Counts(byName: ["read": 100]),
            subjects: [read])
        #expect(verdicts.table.contains("+100.00 %  WORSE"))
    }
}
