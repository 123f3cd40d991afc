/// The results of one run: the content of `report.json`.
struct Report: Codable, Sendable {
    let surroundings: Surroundings
    let scale: Scale
    var outcomes: [Outcome] = []
    var latencies: [ReadingBesideWriter.Latency] = []
    var evictions: [EvictionUnderPressure.Result] = []
    var budgets: [BudgetContents.Result] = []
    var memory: [ResidentMemory.Result] = []
    var growth: [Growth.Point] = []

    /// Creates a report about contenders whose files are in a directory.
    init(scale: Scale, directory: String) {
        self.scale = scale
        surroundings = Surroundings(directory: directory)
    }

    /// The contenders that grew, in the order in which they ran.
    var grown: [ContenderID] {
        var contenders: [ContenderID] = []
        for point in growth where !contenders.contains(point.contender) {
            contenders.append(point.contender)
        }
        return contenders
    }

    func outcome(_ workload: String, _ durability: Durability = .process) -> Outcome? {
        outcomes.first { $0.workload == workload && $0.durability == durability }
    }
}
