import Espalier
import Foundation
import Glibc
import Synchronization

/// A process that reads from many threads at the same moment.
struct Reader {
    private let plan: Plan
    private let progress: Progress
    private let name: String

    init(_ arguments: Arguments) throws {
        plan = try Plan(arguments)
        progress = try Progress(try arguments.required("progress"))
        name = arguments["name"] ?? "G:1"
    }

    func run() throws -> Verdict {
        let cache = try plan.open()
        try cache.set(Gated(id: "G:1")).wait()
        progress[.state] = 1
        while progress[.stop] == 0 { usleep(1_000) }
        let outcomes = Outcomes()
        let group = DispatchGroup()
        for _ in 0..<SeveralAttack.readers {
            group.enter()
            Thread.detachNewThread { [name] in
                outcomes.note(cache.readOutcome(Gated.self, name, consistency: .snapshot))
                group.leave()
            }
        }
        group.wait()
        cache.close()
        let (hits, reasons) = outcomes.all
        progress[.operations] = hits
        return reasons.isEmpty
            ? .fine : .failed("a miss: \(reasons.sorted().joined(separator: ", "))")
    }
}

/// The outcomes of the reads of all threads.
private final class Outcomes: Sendable {
    private let state = Mutex<(hits: Int, reasons: Set<String>)>((0, []))

    var all: (hits: Int, reasons: Set<String>) { state.withLock { $0 } }

    func note(_ outcome: ReadOutcome<Gated>) {
        state.withLock { state in
            switch outcome {
            case .hit: state.hits += 1
            case .miss(let reason): state.reasons.insert("\(reason)")
            }
        }
    }
}

/// A model whose initializer waits until all threads of the process are in it, so that all reads
/// are in progress at the same time.
struct Gated: NormalizedModel, Hashable {
    private static let inside = Atomic(0)
    /// How long each read then stays in the initializer, so that the reads of other processes
    /// overlap with it, in microseconds.
    private static let stay: UInt32 = 300_000

    var id: String
    var modelIdentifier: String? { id }

    init(id: String) { self.id = id }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        Self.inside.add(1, ordering: .relaxed)
        let end = Moment.now + 3
        while Self.inside.load(ordering: .relaxed) < SeveralAttack.readers, Moment.now < end {
            usleep(1_000)
        }
        usleep(Self.stay)
    }

    func encode(to encoder: inout RecordEncoder) throws { try encoder.encode(id, forKey: "id") }
}
