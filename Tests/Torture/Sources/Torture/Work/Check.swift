import Espalier
import Glibc

/// The process that examines a cache after an attack. Its exit status is that of a `Verdict`.
struct Check {
    /// What `verify` has to find right, besides the trees.
    enum Verification: String {
        /// Every value and every tree.
        case deep
        /// The file and its records. Trees may refer to records that damage has lost or that an
        /// import has left out.
        case whole
        case no
    }

    private let plan: Plan
    private let progress: [(owner: Int, Progress)]
    private let mayMiss: Bool
    /// Whether trees may be missing if the cache has evicted any for its budget.
    private let mayEvict: Bool
    private let writes: Bool
    private let verification: Verification
    /// The mistake of a canary.
    private let forgery: String?

    init(_ arguments: Arguments) throws {
        plan = try Plan(arguments)
        progress = try (arguments["progress"] ?? "").split(separator: ",").enumerated().map {
            ($0.offset, try Progress(String($0.element)))
        }
        mayMiss = arguments.isSet("may-miss")
        mayEvict = arguments.isSet("may-evict")
        writes = arguments.isSet("write")
        verification = Verification(rawValue: arguments["verify"] ?? "deep") ?? .deep
        forgery = arguments["forge"]
    }

    func run() -> Verdict {
        if forgery == "crash" { abort() }
        if forgery == "hang" { sleep(600) }
        let cache: NormalizedCache
        do { cache = try plan.open() } catch { return .failed("opening: \(error)") }
        defer { cache.close() }
        for (owner, progress) in progress {
            for tree in 0..<Progress.trees {
                let verdict = look(at: tree, of: owner, progress, in: cache)
                if verdict != .fine { return verdict }
            }
        }
        for tree in 0..<Progress.trees {
            for owner in [Worker.checker, Worker.shared] {
                let verdict = cache.read(Tree.self, Tree.identifier(owner, tree))
                    .map { $0.verdict(owner: owner, number: tree) }
                if let verdict, verdict != .fine { return verdict }
            }
        }
        if writes {
            let verdict = write(to: cache)
            if verdict != .fine { return verdict }
        }
        return verification == .no ? .fine : verify(cache)
    }

    private func look(
        at tree: Int, of owner: Int, _ progress: Progress, in cache: NormalizedCache
    ) -> Verdict {
        let (least, most) = (progress.acknowledged(tree), progress.submitted(tree))
        let name = Tree.identifier(owner, tree)
        switch cache.readOutcome(Tree.self, name) {
        case .hit(let hit):
            var value = hit.value
            if forgery == "value" { value.branches[0].leaves[0].text += "?" }
            let verdict = value.verdict(owner: owner, number: tree)
            if verdict != .fine { return verdict }
            if value.version < least, !mayMiss {
                return .lost("\(name) has version \(value.version), acknowledged was \(least)")
            }
            return value.version <= most
                ? .fine : .wrong("\(name) has version \(value.version), never submitted")
        case .miss(let reason):
            let isEvicted =
                mayEvict && reason == .notFound
                && (try? cache.statistics().evictions.forBudget.trees) ?? 0 > 0
            return least == 0 || mayMiss || isEvicted
                ? .fine : .lost("\(name), acknowledged as version \(least), is a miss: \(reason)")
        }
    }

    /// Writes trees, and reads them again. Where trees may be missing, a write may fail with an
    /// error.
    private func write(to cache: NormalizedCache) -> Verdict {
        for tree in 0..<12 {
            let value = Tree(owner: Worker.checker, number: tree, version: 1 + Int(getpid()))
            do {
                try cache.set(value).wait()
            } catch {
                if mayMiss { continue }
                return .failed("a write failed: \(error)")
            }
            guard let read = cache.read(Tree.self, value.id) else { continue }
            let verdict = read.verdict(owner: Worker.checker, number: tree)
            if verdict != .fine { return verdict }
            if read.version != value.version { return .wrong("\(value.id) has another version") }
        }
        return .fine
    }

    private func verify(_ cache: NormalizedCache) -> Verdict {
        do {
            let report = try cache.verify(deep: true)
            let shallow = try cache.verify()
            let problems = report.problems.filter { verification == .deep || $0.invariant < 8 }
            return shallow.isClean && problems.isEmpty
                ? .fine
                : .unclean(
                    "\(report.problemCount) problems: \((shallow.problems + problems).prefix(3))")
        } catch {
            return .unclean("verify: \(error)")
        }
    }
}
