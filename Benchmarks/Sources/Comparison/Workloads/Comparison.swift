/// All workloads over all contenders: what `compare` runs.
struct Comparison {
    let scale: Scale
    /// Where contenders keep their files.
    let directory: String
    var contestants = Contestant.all
    /// Told what is measured now.
    let announce: (String) -> Void

    func run() throws -> Report {
        var report = Report(scale: scale)
        report.outcomes += try feeds(.process)
        report.outcomes += try feeds(.power)
        report.outcomes += try ReadingThreads(comparison: self).run()
        report.latencies = try ReadingBesideWriter(self).run()
        report.evictions = try EvictionUnderPressure(comparison: self).run()
        report.memory = try ResidentMemory(comparison: self).run()
        report.growth = try Growth(comparison: self).run()
        return report
    }
}
