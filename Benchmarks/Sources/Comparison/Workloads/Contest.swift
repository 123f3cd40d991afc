/// Runs all workloads over all contenders: the command `compare`.
struct Contest {
    /// A part that the user can ask for by itself.
    enum Part: String, CaseIterable {
        case feeds, power, threads, latency, eviction, budgets, memory, growth
    }

    let scale: Scale
    /// The directory of the contenders' files.
    let directory: String
    var contestants = Contestant.all
    /// Called with the name of each measurement when it begins.
    let announce: (String) -> Void

    /// Runs parts, and hands `keep` the report after each of them, so that a later failure loses no
    /// measurement.
    func run(_ parts: [Part] = Part.allCases, keep: (Report) throws -> Void = { _ in }) throws
        -> Report
    {
        var report = Report(scale: scale, directory: directory)
        for part in parts {
            switch part {
            case .feeds: report.outcomes += try feeds(.process)
            case .power: report.outcomes += try feeds(.power)
            case .threads: report.outcomes += try ReadingThreads(contest: self).run()
            case .latency: report.latencies = try ReadingBesideWriter(contest: self).run()
            case .eviction: report.evictions = try EvictionUnderPressure(contest: self).run()
            case .budgets: report.budgets = try BudgetContents(contest: self).run()
            case .memory: report.memory = try ResidentMemory(contest: self).run()
            case .growth: report.growth = try Growth(contest: self).run()
            }
            try keep(report)
        }
        return report
    }
}
