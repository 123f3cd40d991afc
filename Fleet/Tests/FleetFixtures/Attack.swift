public import EspalierFleet
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation
import Synchronization

/// What the hosts of an attack do: they count members up, and read them alone and in trees.
///
/// A log has a line for each step:
///
///     b ID NAME                    a change has begun
///     w ID START END NAME COUNT    it is done: the count is now that
///     r START END STALE NAME COUNT ...    a read has returned these counts
///     m START END STALE NAME       a read has missed
public struct Attack: Sendable {
    /// The bound on staleness.
    public static let bound = Duration.milliseconds(300)
    public static let memberCount = 12
    public static let teamCount = 4

    let cache: SharedCache
    let log: AttackLog

    public init(cache: SharedCache, log: AttackLog) {
        self.cache = cache
        self.log = log
    }

    public static func member(_ number: Int) -> String { "Member:\(number)" }
    public static func pair(_ number: Int) -> String { "Pair:{\(number)}" }

    /// Stores what the steps change.
    public static func prepare(_ cache: SharedCache) async throws {
        for team in 0..<teamCount {
            let members = (0..<memberCount / 2).map { Member("\((team * 3 + $0) % memberCount)") }
            try await cache.set(Team("\(team)", "", members))
        }
        for pair in 0..<teamCount { try await cache.set(Pair("{\(pair)}", 0)) }
    }

    /// Reads or changes something.
    public func step(_ random: inout SeededRandom) async {
        switch random.next() % 10 {
        case 0, 1:
            let number = Int(random.next() % UInt64(Self.memberCount))
            await change(Self.member(number), Member.self) { member in
                var member = member
                member.count += 1
                return (member, member.count)
            }
        case 2:
            let number = Int(random.next() % UInt64(Self.teamCount))
            await change(Self.pair(number), Pair.self) { pair in
                let next = Pair(pair.id, pair.left.count + 1)
                return (next, next.left.count)
            }
        case 3...5:
            let name = "Team:\(random.next() % UInt64(Self.teamCount))"
            await read(name, Team.self) { team in
                team.members.map { ("Member:\($0.id)", $0.count) }
            }
        case 6, 7:
            let name = Self.pair(Int(random.next() % UInt64(Self.teamCount)))
            await read(name, Pair.self) { pair in
                [(name, pair.left.count), (name, pair.right.count)]
            }
        default:
            let name = Self.member(Int(random.next() % UInt64(Self.memberCount)))
            await read(name, Member.self) { [(name, $0.count)] }
        }
        if random.next() % 16 == 0 { try? await Task.sleep(for: .milliseconds(1)) }
    }

    private func change<Model: IdentifiedModel>(
        _ name: String, _ type: Model.Type, _ body: @escaping @Sendable (Model) -> (Model, Int)
    ) async {
        let count = Mutex(0)
        let start = AttackLog.now
        let id = log.begin(name)
        do {
            try await cache.update(type, name) { model in
                let (changed, number) = body(model)
                count.withLock { $0 = number }
                return changed
            }
            log.add("w \(id) \(start) \(AttackLog.now) \(name) \(count.withLock { $0 })")
        } catch {
            // The server may have the change or not.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    private func read<Model: IdentifiedModel>(
        _ name: String, _ type: Model.Type, _ counts: (Model) -> [(String, Int)]
    ) async {
        let start = AttackLog.now
        let outcome = await cache.readOutcome(type, name)
        let end = AttackLog.now
        guard case .hit(let hit) = outcome else {
            log.add("m \(start) \(end) 0 \(name)")
            try? await Task.sleep(for: .milliseconds(5))
            return
        }
        let text = counts(hit.value).map { "\($0) \($1)" }.joined(separator: " ")
        log.add("r \(start) \(end) \(hit.isExpired ? 1 : 0) \(text)")
    }
}

/// The log of one process of an attack. A line is with the system before `add` returns, so that it
/// survives a kill.
public final class AttackLog: Sendable {
    private let descriptor: Int32
    private let latest = Atomic<Int>(0)

    public init(_ path: String) throws {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw TestServer.NoServer(description: "no log at \(path)") }
    }

    /// Nanoseconds of a clock that all processes of the machine share.
    public static var now: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
    }

    func begin(_ name: String) -> Int {
        let id = latest.add(1, ordering: .relaxed).newValue
        add("b \(id) \(name)")
        return id
    }

    func add(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }
}

/// SplitMix64 (Steele et al., 2014).
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
