/// All workloads over all contenders: what `compare` runs.
struct Contest {
    /// What can be asked for by itself.
    enum Part: String, CaseIterable {
        case feeds, power, threads, latency, eviction, memory, growth
    }

    let scale: Scale
    /// Where contenders keep their files.
    let directory: String
    var contestants = Contestant.all
    /// Told what is measured now.
    let announce: (String) -> Void

    /// `keep` is handed the report after each part: what is measured is not to be lost with what
    /// fails later.
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
            case .memory: report.memory = try ResidentMemory(contest: self).run()
            case .growth: report.growth = try Growth(contest: self).run()
            }
            try keep(report)
        }
        return report
    }
}
