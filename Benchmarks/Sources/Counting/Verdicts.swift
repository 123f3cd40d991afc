import Foundation

/// Instructions by operation.
struct Counts {
    var byName: [String: Int] = [:]
}

extension Counts {
    /// Reads the counts of a file. There are none if the file does not exist.
    init(contentsOf file: String) throws {
        guard FileManager.default.fileExists(atPath: file) else { return }
        byName = try JSONDecoder().decode(
            [String: Int].self, from: Data(contentsOf: URL(filePath: file)))
    }

    func write(to file: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try (encoder.encode(byName) + Data("\n".utf8)).write(to: URL(filePath: file))
    }
}

/// Compares counts with their thresholds.
struct Verdicts {
    struct Subject {
        let name: String
        /// The tolerance, as a share of the threshold.
        let tolerance: Double
    }

    enum Verdict: String {
        case kept = ""
        case worse = "WORSE"
        /// A count below the threshold fails too: the gain could be lost again unnoticed.
        case better = "BETTER: record it"
        case unknown = "no threshold: record it"
    }

    let counts, thresholds: Counts
    let subjects: [Subject]

    func verdict(on subject: Subject) -> Verdict {
        guard let change = change(of: subject.name) else { return .unknown }
        if abs(change) <= subject.tolerance { return .kept }
        return change > 0 ? .worse : .better
    }

    var isKept: Bool { subjects.allSatisfy { verdict(on: $0) == .kept } }

    private func change(of name: String) -> Double? {
        guard let count = counts.byName[name], let threshold = thresholds.byName[name],
            threshold > 0
        else {
            return nil
        }
        return Double(count - threshold) / Double(threshold)
    }

    var table: String {
        let lines = subjects.map { subject in
            let name = subject.name
            let count =
                counts.byName[name].map { String(format: "%.1f", Double($0) / 1_000) } ?? "-"
            let change = change(of: name).map { String(format: "%+.2f %%", $0 * 100) } ?? "-"
            let row = [Self.padded(name, 28), Self.padded(count, -12), Self.padded(change, -10)]
                .joined()
            return row + "  " + verdict(on: subject).rawValue
        }
        let head =
            Self.padded("thousand instructions", 28) + Self.padded("counted", -12)
            + Self.padded("change", -10)
        return ([head] + lines).joined(separator: "\n")
    }

    /// Pads to the right if the width is negative.
    private static func padded(_ text: String, _ width: Int) -> String {
        let space = String(repeating: " ", count: max(0, abs(width) - text.count))
        return width < 0 ? space + text : text + space
    }
}
