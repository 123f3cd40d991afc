#if CommandLine
import EspalierFixtures
import EspalierInspection
import EspalierLMDB
import EspalierStore
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The findings of `doctor`")
struct DiagnosisTests {
    private let folder: ScratchFolder
    private let sound: CacheCondition

    init() throws {
        folder = try ScratchFolder()
        let cache = try NormalizedCache(directory: folder.url.appendingPathComponent("c").path)
        defer { cache.close() }
        sound = try cache.condition()
    }

    private func findings(
        machinePage: Int = 4_096, disk: Surroundings.Disk = .init(freeBytes: 1 << 40, mode: 0o700),
        _ change: (inout CacheCondition) -> Void = { _ in }
    ) -> [String] {
        var surroundings = Surroundings()
        surroundings.machinePage = machinePage
        surroundings.disk = disk
        var condition = sound
        change(&condition)
        return Diagnosis(of: surroundings, condition).findings.map {
            "\($0.severity.rawValue) \($0.about)"
        }
    }

    private func disk(_ type: String, isReadOnly: Bool = false) -> Surroundings.Disk {
        .init(
            mount: .init(path: "/", type: type, isReadOnly: isReadOnly), freeBytes: 1 << 40,
            mode: 0o700)
    }

    @Test("A healthy cache has no findings") func nothing() {
        #expect(findings() == [])
        #expect(findings(disk: disk("ext4")) == [])
    }

    @Test("A file system that does not share locks is a problem, and one in memory a warning")
    func fileSystems() {
        #expect(findings(disk: disk("nfs4")) == ["problem file system"])
        #expect(findings(disk: disk("fuse.sshfs")) == ["problem file system"])
        #expect(findings(disk: disk("tmpfs")) == ["warning file system"])
        #expect(findings(disk: disk("ext4", isReadOnly: true)) == ["problem file system"])
    }

    @Test("A directory open to others, and a disk smaller than the budget, are warnings")
    func room() {
        #expect(findings(disk: .init(freeBytes: 1 << 40, mode: 0o750)) == ["warning permissions"])
        #expect(findings(disk: .init(freeBytes: 1 << 20, mode: 0o700)) == ["warning disk"])
        #expect(findings(machinePage: 16_384) == ["problem page"])
    }

    @Test("A full cache is healthy; a cache that cannot evict and an old reader are not")
    func cache() {
        let full = PageUsage(used: 700, lastPage: 960, mapSize: 1_000 * 4_096, pageSize: 4_096)
        #expect(
            findings {
                $0.pages = full
                $0.usablePages = 690
            } == [])
        #expect(
            findings {
                $0.pages = full
                $0.usablePages = 600
            } == ["warning budget"])
        let behind = Reader(processIdentifier: 7, transaction: 1, lag: 1_001)
        #expect(findings { $0.readers = [behind] } == ["warning readers"])
        let idle = Reader(processIdentifier: 7, transaction: nil, lag: nil)
        #expect(findings { $0.readers = Array(repeating: idle, count: 460) } == ["warning readers"])
        #expect(findings { $0.readers = Array(repeating: idle, count: 459) } == [])
        #expect(findings { $0.leftGenerations = ["g-1"] } == ["warning generations"])
    }

    private func findings(_ change: (inout CacheHistory) -> Void) -> [Finding] {
        var history = CacheHistory()
        history.budget = .mebibytes(2)
        change(&history)
        return Diagnosis(of: Surroundings(), nil, history: history).findings.filter {
            $0.about != "page"
        }
    }

    @Test("Pins near half the budget, dropped writes and a replaced cache are warnings")
    func history() {
        #expect(findings { $0.pinnedBytes = .kibibytes(800) } == [])
        #expect(findings { $0.pinnedBytes = .kibibytes(900) }.map(\.about) == ["pins"])
        let dropped = findings { $0.droppedWrites = ["full": 2, "queueFull": 1, "other": 3] }
        #expect(dropped.map(\.about) == ["writes", "writes", "writes"])
        #expect(dropped[0].detail == "2 writes were dropped: full.")
        #expect(dropped[0].advice.contains("espalier budget"))
        #expect(dropped[2].detail == "1 write was dropped: queueFull.")
        #expect(findings { $0.generationsReplaced = ["damage": 1] }.map(\.about) == ["generations"])
    }

    @Test("What a repair leaves is a problem")
    func repair() {
        var diagnosis = Diagnosis(of: Surroundings(), nil)
        let count = diagnosis.findings.count
        diagnosis.add(RepairOutcome(problemsBefore: 3, problemsAfter: 0))
        #expect(diagnosis.findings.count == count)
        diagnosis.add(RepairOutcome(problemsBefore: 3, problemsAfter: 1))
        #expect(diagnosis.findings.last?.severity == .problem)
        #expect(diagnosis.findings.last?.detail == "Left after the repair: 1 problem.")
    }

    @Test("Sentences are broken at spaces, by their width in a terminal")
    func wrapping() {
        #expect("one two three".wrapped(to: 8, indentedBy: 2) == "one two\n  three")
        #expect("日本 日本 日本".wrapped(to: 9, indentedBy: 1) == "日本 日本\n 日本")
        #expect("unbreakable".wrapped(to: 4, indentedBy: 2) == "unbreakable")
    }
}
#endif
