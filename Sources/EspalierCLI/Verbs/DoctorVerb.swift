import ArgumentParser
import EspalierStore

/// `espalier doctor`: versions, disk, map and readers of a cache, and what is wrong with them.
struct DoctorVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Tells versions, file system, disk, map and readers, and what is wrong with them.",
        discussion: """
            Without a cache it tells of the system alone. It reads no records: verify checks those. Exits with 2 if there \
            is a problem; a warning is none.
            """)

    @Argument(help: "The directory of the cache.", completion: .directory)
    var cache: String?

    @OptionGroup var output: OutputOptions

    func run() throws {
        let report = try cache.map(examine) ?? DoctorReport(of: Surroundings())
        try output.print(report)
        if output.format == .table {
            try Console.print("")
            try Console.print(
                report.conclusion(width: Terminal.width ?? 80, palette: output.palette))
        }
        let problems = report.findings.count { $0.severity == .problem }
        guard problems == 0 else {
            throw CommandFailure(
                "\(cache ?? "this system"): \(problems == 1 ? "a problem" : "\(problems) problems")",
                kind: .miss)
        }
    }

    private func examine(_ path: String) throws(CommandFailure) -> DoctorReport {
        let surroundings = Surroundings(of: path)
        do {
            let cache = try NormalizedCache.existing(directory: path, configuration: .commandLine())
            defer { cache.close() }
            let condition = try cache.condition()
            let history = try CacheHistory(of: cache)
            return DoctorReport(
                surroundings: surroundings, directory: path, condition: condition,
                findings: Diagnosis(of: surroundings, condition, history: history).findings)
        } catch let error as CacheError where [.noCache, .badDirectory].contains(error.code) {
            throw CacheArgument.failure(error, at: path)
        } catch {
            var diagnosis = Diagnosis(of: surroundings, nil)
            diagnosis.add(unopenable: "\(error)")
            return DoctorReport(
                surroundings: surroundings, directory: path, condition: nil,
                findings: diagnosis.findings)
        }
    }
}

extension DoctorReport {
    /// Of a system, without a cache.
    fileprivate init(of surroundings: Surroundings) {
        self.init(
            surroundings: surroundings, directory: nil, condition: nil,
            findings: Diagnosis(of: surroundings, nil).findings)
    }
}
