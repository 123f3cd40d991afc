import EspalierLMDB
import EspalierRecords
import Synchronization

extension Committer {
    /// Changes the budget, for every process. A smaller one keeps what was accessed last.
    func setBudget(_ budget: ByteCount, mayExceed: Bool) throws {
        let old = try generations.current().budget
        if budget > old {
            do {
                try generations.setBudget(larger: budget)
            } catch let error as LMDBError where error.code == .busy {
                throw CacheError(
                    .busy,
                    "Reads under way did not end in time for the budget to be raised. Try again.",
                    cause: error)
            }
        } else if budget < old {
            try shrink(from: old, to: budget, mayExceed: mayExceed)
        }
    }

    private func shrink(from old: ByteCount, to budget: ByteCount, mayExceed: Bool) throws {
        var generation = try generations.current()
        try commit([.checkPins(for: budget)], makingRoomIn: generation)
        let pages = Generation.mapSize(for: budget) / generation.environment.pageSize
        var goal = PagePlan(capacity: pages - 1).high
        // Copied in order everything takes fewer pages; what does not is dealt with by evicting
        // some more.
        for _ in 0..<4 {
            try trim(to: goal, .shrink, in: generation)
            guard try generation.environment.read({ try $0.pages().used }) < pages else {
                throw full(generation)
            }
            do {
                let room = mayExceed ? ByteCount(old.bytes + budget.bytes) : old
                return try generations.move(to: budget, room: room)
            } catch is GenerationHolder.DoesNotFit {
                goal = goal * 3 / 4
                generation = try generations.current()
            }
        }
        throw full(generation)
    }
}
