#if CommandLine
import EspalierFixtures
import EspalierInspection
import EspalierLMDB
import EspalierStore

/// The facts about a cache and its system, and the findings.
struct DoctorReport: Printable {
    let surroundings: Surroundings
    let directory: String?
    let condition: CacheCondition?
    let findings: [Finding]

    var report: Report { Report(facts: systemFacts + diskFacts + cacheFacts) }

    private typealias Fact = (name: String, title: String, cell: Cell)

    private var systemFacts: [Fact] {
        [
            ("espalier", "espalier", .text(surroundings.tool)),
            ("lmdb", "LMDB", .text(surroundings.lmdb)),
            ("zstd", "zstd", .text(surroundings.zstd)),
            ("system", "system", .text(surroundings.system)),
            ("systemPage", "system's page", .size(surroundings.machinePage)),
        ]
    }

    private var diskFacts: [Fact] {
        guard let disk = surroundings.disk else { return [] }
        var facts: [Fact] = []
        if let mount = disk.mount {
            facts.append(("fileSystem", "file system", .text(mount.type)))
            facts.append(("mountPoint", "mounted at", .text(mount.path)))
        }
        if let free = disk.freeBytes { facts.append(("diskFreeBytes", "disk free", .size(free))) }
        if let mode = disk.mode {
            facts.append(("mode", "mode", .text(String(mode & 0o7777, radix: 8))))
        }
        return facts
    }

    private var cacheFacts: [Fact] {
        var facts: [Fact] = []
        if let directory { facts.append(("directory", "directory", .text(directory))) }
        guard let condition else { return facts }
        let pages = condition.pages
        let active = condition.readers.filter { $0.transaction != nil }
        return facts + [
            ("format", "format", .count(Int(condition.formatVersion))),
            ("generation", "generation", .text(condition.generation)),
            ("generationNumber", "switches", .count(Int(clamping: condition.generationNumber))),
            (
                "lastTransaction", "last transaction",
                .count(Int(clamping: condition.lastTransaction))
            ),
            ("budget", "budget", .size(condition.budget.bytes)),
            ("directoryBytes", "directory's files", .size(condition.directoryBytes.bytes)),
            ("mapBytes", "map", .size(condition.mapSize.bytes)),
            ("pageSize", "page", .size(pages.pageSize)),
            ("pagesUsed", "pages used", .count(pages.used)),
            ("pagesFree", "pages free inside the file", .count(pages.free)),
            ("pageCapacity", "pages at most", .count(pages.capacity)),
            ("pagesUsable", "pages before it evicts", .count(condition.usablePages)),
            ("readers", "reader slots taken", .count(condition.readers.count)),
            ("readersActive", "reading now", .count(active.count)),
            ("readerSlots", "reader slots", .count(condition.readerSlots)),
        ]
    }

    /// The facts and the list of findings.
    var json: JSONValue {
        guard case .object(let members) = report.json else { return report.json }
        let findings = findings.map { finding -> JSONValue in
            [
                "severity": .string(finding.severity.rawValue), "about": .string(finding.about),
                "detail": .string(finding.detail), "advice": .string(finding.advice),
            ]
        }
        return .object(members + [JSONMember(name: "findings", value: .array(findings))])
    }

    /// The findings for a person, in lines of at most `width` columns.
    func conclusion(width: Int, palette: Palette) -> String {
        guard !findings.isEmpty else { return palette.paint("no problems found", .good) }
        return findings.map { finding in
            let lines =
                """
                \(finding.severity.rawValue): \(finding.about): \(finding.detail) \
                \(finding.advice)
                """
                .withVisibleControls.wrapped(to: width, indentedBy: 2)
            return palette.paint(lines, finding.severity == .problem ? .bad : .warning)
        }.joined(separator: "\n")
    }
}

extension String {
    /// Returns the text broken at spaces into lines of at most `width` columns, unless a word is
    /// longer. Indents all lines but the first.
    func wrapped(to width: Int, indentedBy indent: Int) -> String {
        var lines: [String] = []
        var line = ""
        for word in split(separator: " ") {
            if !line.isEmpty, line.terminalColumns + 1 + String(word).terminalColumns > width {
                lines.append(line)
                line = String(repeating: " ", count: indent) + word
            } else {
                line += line.isEmpty ? String(word) : " " + word
            }
        }
        return (lines + [line]).joined(separator: "\n")
    }
}

extension VerifyReport: Printable {
    private var counts: [(name: String, count: Int)] {
        [
            ("nodes", nodes), ("keys", keys), ("collections", collections), ("segments", segments),
            ("tombstones", tombstones), ("references", references),
        ]
            + (trees > 0
                ? [("values", values), ("trees", trees), ("unreadableTrees", unreadableTrees)] : [])
            + [
                ("problems", problemCount)
            ]
    }

    /// The counts, then a row per problem.
    var report: Report {
        var report = Report(.list, columns: [.left("checked"), .left("found")])
        for (name, count) in counts {
            report.append([
                .text(name),
                name == "problems" && count > 0 ? .text(String(count), .bad) : .count(count),
            ])
        }
        for problem in problems {
            let name = problem.invariant == 0 ? "damage" : "invariant \(problem.invariant)"
            let detail = [problem.path, problem.detail].compactMap { $0 }.joined(separator: ": ")
            report.append([.text(name, .bad), .text(detail)])
        }
        return report
    }

    var json: JSONValue {
        let problems = problems.map { problem -> JSONValue in
            let place = [("identifier", problem.identifier), ("path", problem.path)].compactMap {
                name, text in
                text.map { JSONMember(name: name, value: .string($0)) }
            }
            return .object(
                [
                    JSONMember(name: "invariant", value: .number(JSONNumber(problem.invariant))),
                    JSONMember(name: "detail", value: .string(problem.detail)),
                ] + place)
        }
        let counts = counts.dropLast().map {
            JSONMember(name: $0.name, value: .number(JSONNumber($0.count)))
        }
        return .object(
            [JSONMember(name: "isClean", value: .bool(isClean))] + counts + [
                JSONMember(name: "problemCount", value: .number(JSONNumber(problemCount))),
                JSONMember(name: "problems", value: .array(problems)),
            ])
    }
}
#endif
