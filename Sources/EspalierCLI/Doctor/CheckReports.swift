#if CommandLine
import EspalierFixtures
import EspalierInspection
import EspalierLMDB
import EspalierStore

/// What `verify` finds before and after a repair.
struct RepairOutcome: Equatable {
    let problemsBefore: Int
    let problemsAfter: Int

    /// Repairs a cache, and waits until that is done.
    init(repairing cache: NormalizedCache) throws {
        let before = try cache.verify().problemCount
        try cache.repair().wait()
        self.init(problemsBefore: before, problemsAfter: try cache.verify().problemCount)
    }

    init(problemsBefore: Int, problemsAfter: Int) {
        self.problemsBefore = problemsBefore
        self.problemsAfter = problemsAfter
    }
}

/// The facts about a cache and its system, and the findings.
struct DoctorReport: Printable {
    let surroundings: Surroundings
    let directory: String?
    let condition: CacheCondition?
    /// Nil if nothing was to be repaired.
    let repair: RepairOutcome?
    let findings: [Finding]

    init(
        of surroundings: Surroundings, _ directory: String? = nil,
        _ condition: CacheCondition? = nil, repair: RepairOutcome? = nil, findings: [Finding]
    ) {
        self.surroundings = surroundings
        self.directory = directory
        self.condition = condition
        self.repair = repair
        self.findings = findings
    }

    /// The facts, with the findings as one text for CSV. The table omits it: `conclusion` prints
    /// them below.
    var report: Report {
        let text = findings.map(\.line).joined(separator: "; ")
        var report = Report(facts: facts + [("findings", "findings", .text(text))])
        report.omitted = ["findings"]
        return report
    }

    private var facts: [Report.Fact] { systemFacts + diskFacts + cacheFacts + repairFacts }

    private var systemFacts: [Report.Fact] {
        [
            ("espalier", "espalier", .text(surroundings.tool)),
            ("lmdb", "LMDB", .text(surroundings.lmdb)),
            ("zstd", "zstd", .text(surroundings.zstd)),
            ("system", "system", .text(surroundings.system)),
            ("systemPage", "system's page", .size(surroundings.machinePage)),
        ]
    }

    private var diskFacts: [Report.Fact] {
        guard let disk = surroundings.disk else { return [] }
        var facts: [Report.Fact] = []
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

    private var cacheFacts: [Report.Fact] {
        var facts: [Report.Fact] = []
        if let directory { facts.append(("directory", "directory", .text(directory))) }
        guard let condition else { return facts }
        let pages = condition.pages
        let active = condition.readers.filter { $0.transaction != nil }
        return facts + [
            ("format", "format", .count(Int(condition.formatVersion))),
            ("generation", "generation", .text(condition.generation)),
            ("generationNumber", "switches", .count(condition.generationNumber)),
            ("lastTransaction", "last transaction", .count(condition.lastTransaction)),
            ("budget", "budget", .size(condition.budget)),
            ("directoryBytes", "directory's files", .size(condition.directoryBytes)),
            ("mapBytes", "map", .size(condition.mapSize)),
            ("pageSize", "page", .size(pages.pageSize)),
            ("pagesUsed", "pages used", .count(pages.used)),
            ("pagesFree", "pages free inside the file", .count(pages.free)),
            ("pageCapacity", "pages at most", .count(pages.capacity)),
            ("pagesUsable", "pages before it evicts", .count(condition.usablePages)),
            ("readers", "reader slots taken", .count(condition.readers.count)),
            ("readersActive", "reading now", .count(active.count)),
            ("readerSlots", "reader slots", .count(condition.readerSlots)),
            (
                "writer", "lock of the writer",
                .text(condition.isWriterBlocked.map { $0 ? "taken" : "free" } ?? "unknown")
            ),
        ]
    }

    private var repairFacts: [Report.Fact] {
        guard let repair else { return [] }
        return [
            ("problemsBeforeRepair", "problems before the repair", .count(repair.problemsBefore)),
            ("problemsAfterRepair", "problems after it", .count(repair.problemsAfter)),
        ]
    }

    /// The facts and the list of findings.
    var json: JSONValue {
        let findings = findings.map { finding -> JSONValue in
            [
                "severity": .string(finding.severity.rawValue), "about": .string(finding.about),
                "detail": .string(finding.detail), "advice": .string(finding.advice),
            ]
        }
        return Report(facts: facts).json + ["findings": .array(findings)]
    }

    /// The findings for a person, in lines of at most `width` columns.
    func conclusion(width: Int, palette: Palette) -> String {
        guard !findings.isEmpty else { return palette.paint("no problems found", .good) }
        return findings.map { finding in
            let lines = finding.line.withVisibleControls.wrapped(to: width, indentedBy: 2)
            return palette.paint(lines, finding.severity == .problem ? .bad : .warning)
        }.joined(separator: "\n")
    }
}

extension Finding {
    /// The finding as one line.
    fileprivate var line: String { "\(severity.rawValue): \(about): \(detail) \(advice)" }
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
    private var counts: KeyValuePairs<String, Int> {
        guard trees > 0 else {
            return [
                "nodes": nodes, "keys": keys, "collections": collections, "segments": segments,
                "tombstones": tombstones, "references": references,
            ]
        }
        return [
            "nodes": nodes, "keys": keys, "collections": collections, "segments": segments,
            "tombstones": tombstones, "references": references, "values": values, "trees": trees,
            "unreadableTrees": unreadableTrees,
        ]
    }

    /// The counts, then a row per problem.
    var report: Report {
        let count: Cell =
            problemCount > 0 ? .text(String(problemCount), .bad) : .count(problemCount)
        return Report(
            .list, columns: [.left("checked"), .left("found")],
            rows: counts.map { [.text($0), .count($1)] } + [[.text("problems"), count]]
                + problems.map { problem in
                    let isDamage = problem.invariant == 0
                    let detail = [problem.path, problem.detail].compactMap(\.self)
                    return [
                        .text(isDamage ? "damage" : "invariant \(problem.invariant)", .bad),
                        .text(detail.joined(separator: ": ")),
                    ]
                })
    }

    var json: JSONValue {
        let problems = problems.map { problem -> JSONValue in
            var json: JSONValue = [
                "invariant": .number(problem.invariant), "detail": .string(problem.detail),
            ]
            if let identifier = problem.identifier {
                json = json + ["identifier": .string(identifier)]
            }
            if let path = problem.path { json = json + ["path": .string(path)] }
            return json
        }
        return ["isClean": .bool(isClean)]
            + .object(counts.map { JSONMember(name: $0, value: .number($1)) })
            + ["problemCount": .number(problemCount), "problems": .array(problems)]
    }
}
#endif
