#if CommandLine
import ArgumentParser
import EspalierInspection
import EspalierStore

/// `espalier verify`: checks every record and every invariant of a cache.
struct VerifyCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Checks every record and every invariant of a cache.",
        discussion: """
            Prints counts and problems, and exits with 2 if there are problems. --deep also \
            decodes every value and follows every reference from every index entry. \
            "unreadableTrees" counts the trees with an unreadable part, which are misses; each \
            problem says where.
            """)

    @OptionGroup var cache: CacheArgument

    @Flag(help: "Also decodes every value and walks every tree.")
    var deep = false

    @OptionGroup var output: OutputOptions

    @MainActor
    func run(on cache: NormalizedCache) throws {
        let report = try cache.verify(deep: deep)
        try output.print(report)
        guard report.isClean else {
            throw CommandFailure(
                "\(self.cache.cache): \(report.problemCount) problems", kind: .miss)
        }
    }
}

/// `espalier doctor`: checks the environment of a cache: versions, disk, memory map and readers.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Checks versions, file system, disk, memory map and readers.",
        discussion: """
            Without a cache the command checks only the system. It reads no records: verify checks \
            those. With --repair it first repairs what verify finds: damaged records become misses \
            until they are written again. The report then says how many problems verify found \
            before and after. Exits with 2 if there is a problem; warnings do not count.
            """)

    @Argument(help: "The directory of the cache.", completion: .directory)
    var cache: String?

    @Flag(help: "Repairs damaged records, index entries and counts first.")
    var repair = false

    @OptionGroup var key: KeyOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard cache != nil || !repair else {
            throw ValidationError("--repair needs the directory of a cache.")
        }
    }

    func run() throws {
        let report =
            try cache.map(examine)
            ?? DoctorReport(
                of: Surroundings(), findings: Diagnosis(of: Surroundings(), nil).findings)
        try output.print(report)
        if output.format == .table {
            try Console.print("")
            try Console.print(
                report.conclusion(width: Terminal.width ?? 80, palette: output.palette))
        }
        let problems = report.findings.count { $0.severity == .problem }
        guard problems == 0 else {
            throw CommandFailure(
                "\(cache ?? "this system"): \(counted(problems, "problem"))", kind: .miss)
        }
    }

    private func examine(_ path: String) throws(CommandFailure) -> DoctorReport {
        var surroundings = Surroundings(of: path)
        let encryption = try key.encryption()
        do {
            let cache = try NormalizedCache.existing(
                directory: path, configuration: .commandLine(encryption))
            defer { cache.close() }
            surroundings.noteOpened(at: path)
            let outcome = repair ? try RepairOutcome(repairing: cache) : nil
            let condition = try cache.condition(waiting: .seconds(1))
            var diagnosis = Diagnosis(
                of: surroundings, condition, history: try CacheHistory(of: cache))
            if let outcome { diagnosis.add(outcome) }
            return DoctorReport(
                of: surroundings, path, condition, repair: outcome, findings: diagnosis.findings)
        } catch let error as CacheError
            where [.noCache, .badDirectory, .wrongKey].contains(error.code)
        {
            throw CacheArgument.failure(error, at: path)
        } catch {
            var diagnosis = Diagnosis(of: surroundings, nil)
            diagnosis.add(unopenable: "\(error)")
            return DoctorReport(of: surroundings, path, findings: diagnosis.findings)
        }
    }
}
#endif
