/// The verdicts of flips, by the place of the bit.
struct FlipCounts {
    private var counts: [String: [Verdict: Int]] = [:]
    private(set) var total = 0
    private(set) var wrong: [String] = []

    mutating func add(_ verdict: Verdict, at place: String) {
        total += 1
        if case .wrong(let detail) = verdict { wrong.append("\(place): \(detail)") }
        counts[place, default: [:]][verdict, default: 0] += 1
    }

    func unharmed(at place: String) -> Int { counts[place]?[.unharmed] ?? 0 }

    var places: [String] { counts.keys.sorted() }

    var report: String {
        let lines = places.map { place in
            let verdicts = counts[place] ?? [:]
            let misses = verdicts.compactMap { verdict, count -> (String, Int)? in
                guard case .miss(let reason) = verdict else { return nil }
                return (reason, count)
            }
            let wrong = verdicts.filter { if case .wrong = $0.key { true } else { false } }.values
                .reduce(0, +)
            let reasons = misses.sorted { $0.0 < $1.0 }.map { "\($0.0) \($0.1)" }.joined(
                separator: ", ")
            return
                "\(place): \(verdicts.values.reduce(0, +)) flips, "
                + "\(misses.reduce(0) { $0 + $1.1 }) misses (\(reasons)), "
                + "\(verdicts[.unharmed] ?? 0) unharmed, \(wrong) wrong"
        }
        return lines.joined(separator: "\n")
    }
}
