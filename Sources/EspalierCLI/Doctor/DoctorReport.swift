import EspalierFixtures
import EspalierLMDB
import EspalierStore

/// Facts of a cache and its surroundings, and what was found wrong.
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

    /// The facts, and a list of findings.
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
        guard !findings.isEmpty else { return palette.paint("nothing to complain about", .good) }
        return findings.map { finding in
            let lines =
                "\(finding.severity.rawValue): \(finding.about): \(finding.detail) \(finding.advice)"
                .withVisibleControls.wrapped(to: width, indentedBy: 2)
            return palette.paint(lines, finding.severity == .problem ? .bad : .warning)
        }.joined(separator: "\n")
    }
}

extension String {
    /// Broken at spaces into lines of at most `width` columns where words allow; further lines are
    /// indented.
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
