import Foundation
import Testing

@testable import EspalierLMDB

@Suite("Use of the data file")
struct UseTests {
    private let scratch: Scratch
    /// The size above which a file counts as large here.
    private let smallFile = 2 << 20

    init() throws { scratch = try Scratch() }

    private var record: FileUse { FileUse(scratch.guardFile) }

    /// Damages a page of a tree and marks the file as intact, as a drive does that returns other
    /// bytes than were written.
    private func damageUnnoticed() throws {
        var image = try scratch.image()
        // Each page of the first half that holds a tree.
        for page in 2..<image.count / 8_192 {
            image[page * 4_096 + 10] ^= 0x01
        }
        try scratch.replaceUnnoticed(by: image)
    }

    private func makeLargeFile() throws {
        let environment = try scratch.open()
        for round in UInt64(0)..<30 {
            try environment.write { transaction in
                for number in UInt64(0)..<100 {
                    try transaction.put(
                        environment.nodes, round * 100 + number, [UInt8](repeating: 1, count: 900))
                }
            }
        }
        environment.close()
        try #expect(scratch.image().count > smallFile)
    }

    @Test("The count of users returns to zero when the last one has closed the file")
    func closing() throws {
        let environment = try scratch.open()
        #expect(scratch.guardFile[.users] & 0xFF_FFFF == 1)
        environment.close()
        #expect(scratch.guardFile[.users] & 0xFF_FFFF == 0)
        #expect(!record.hasCrashed(isInUse: false))
        let reopened = try scratch.open()
        #expect(reopened.doubt == nil)
    }

    @Test("A file whose process was killed is checked although it carries its mark")
    func killed() async throws {
        try makeLargeFile()
        try await killAUser()
        #expect(record.hasCrashed(isInUse: false))
        try #expect(scratch.isMarked)
        let environment = try scratch.open()
        #expect(environment.doubt == .unclosed)
        environment.close()
        try await killAUser()
        try damageUnnoticed()
        #expect(code { _ = try scratch.open() } == .corrupted)
    }

    private func killAUser() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [root = scratch.root as String] in
            disableCoreFiles()
            let guardFile = try GuardFile(path: root + "/guard", create: false)
            let environment = try Environment.open(
                directory: root + "/g", guardedBy: guardFile, keyspaces: ["nodes", "index"],
                options: .init(mapSize: 4 << 20))
            _ = environment
            kill(getpid(), SIGKILL)
        }
    }

    @Test("A small file is checked at each opening, a large one after 32 openings or 7 days")
    func due() throws {
        try scratch.open().close()
        #expect(!record.isCheckDue(fileSize: FileUse.smallFile + 1))
        #expect(record.isCheckDue(fileSize: FileUse.smallFile))
        for _ in 0..<FileUse.openingLimit { record.addOpening() }
        #expect(record.isCheckDue(fileSize: FileUse.smallFile + 1))
        #expect(record.finishCheck())
        #expect(!record.isCheckDue(fileSize: FileUse.smallFile + 1))
        let now = scratch.guardFile[.checked]
        scratch.guardFile[.checked] = now - FileUse.ageLimit
        #expect(record.isCheckDue(fileSize: FileUse.smallFile + 1))
        scratch.guardFile[.checked] = now + 1_000
        #expect(record.isCheckDue(fileSize: FileUse.smallFile + 1))
    }

    @Test("A large file is opened without a check, until one is due")
    func openings() throws {
        try makeLargeFile()
        try scratch.open().close()
        try damageUnnoticed()
        scratch.guardFile[.openings] = FileUse.openingLimit
        #expect(code { _ = try scratch.open() } == .corrupted)
    }

    @Test("Two assertions of LMDB, the second after a check that found nothing, are damage")
    func assertions() throws {
        try makeLargeFile()
        scratch.guardFile.update(.assertions) { $0 + 1 }
        try scratch.open().close()
        try scratch.open().close()
        scratch.guardFile.update(.assertions) { $0 + 1 }
        #expect(code { _ = try scratch.open() } == .corrupted)
        record.reset()
        try scratch.open().close()
    }

    @Test("LMDB counts its assertions in the guard file before it ends the process")
    func counted() async throws {
        try makeLargeFile()
        var image = try scratch.image()
        // A branch page with a single child: LMDB asserts that there are two.
        for page in 2..<image.count / 4_096 where image[page * 4_096 + 10] == 1 {
            image[page * 4_096 + 12] = 18
        }
        try scratch.replaceUnnoticed(by: image)
        await #expect(processExitsWith: .signal(SIGABRT)) { [root = scratch.root as String] in
            try FileUse.$smallFile.withValue(0) { try Self.readAll(root) }
        }
        #expect(scratch.guardFile[.assertions] & 0xFFFF_FFFF == 1)
        #expect(code { _ = try scratch.open() } == .corrupted)
    }

    private static func readAll(_ root: String) throws {
        disableCoreFiles()
        let guardFile = try GuardFile(path: root + "/guard", create: false)
        let environment = try Environment.open(
            directory: root + "/g", guardedBy: guardFile, keyspaces: ["nodes", "index"],
            options: .init(mapSize: 4 << 20))
        try environment.read { transaction in
            try transaction.forEach(in: environment.nodes) { _, _ in true }
        }
    }

    @Test("A process checks an unmarked file that another one has open before it uses it")
    func second() async throws {
        try makeLargeFile()
        let environment = try scratch.open()
        scratch.guardFile.setMark(IntactMark.none)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.data))
        for page in 2..<UInt64(20) {
            try file.seek(toOffset: page * 4_096 + 10)
            try file.write(contentsOf: Data([0x07]))
        }
        try file.close()
        await #expect(processExitsWith: .success) { [root = scratch.root as String] in
            let guardFile = try GuardFile(path: root + "/guard", create: false)
            let code = code {
                _ = try Environment.open(
                    directory: root + "/g", guardedBy: guardFile, keyspaces: ["nodes", "index"],
                    options: .init(mapSize: 4 << 20))
            }
            guard code == .corrupted else { throw LMDBError(.busy, .open) }
        }
        environment.close()
    }

    @Test("A check in parts finds what a check at once finds, and begins anew after a commit")
    func parts() throws {
        try makeLargeFile()
        let environment = try scratch.open()
        scratch.guardFile[.checked] = 1
        var turns = 1
        while try !environment.checkStructure(pages: 50) { turns += 1 }
        #expect((10...60).contains(turns))
        #expect(environment.timeSinceStructureCheck < .seconds(60))
        try #expect(!environment.checkStructure(pages: 50))
        try environment.write { try $0.put(environment.nodes, UInt64(7), [7]) }
        // The part after the commit is discarded.
        try #expect(!environment.checkStructure(pages: .max))
        try #expect(environment.checkStructure(pages: .max))
        try environment.checkWholeStructure()

        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.data))
        for page in 2..<UInt64(20) {
            try file.seek(toOffset: page * 4_096 + 10)
            try file.write(contentsOf: Data([0x07]))
        }
        try file.close()
        var failure: LMDBError.Code?
        for _ in 0..<100 where failure == nil {
            failure = code { _ = try environment.checkStructure(pages: 50) }
        }
        #expect(failure == .corrupted)
        #expect(code { try environment.checkWholeStructure() } == .corrupted)
        environment.close()
    }

    @Test("A page that turns bad while the file is open is damage for each call that meets it")
    func badPage() throws {
        try makeLargeFile()
        let environment = try scratch.open()
        // The root of the keyspace is no page of a tree any more.
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.data))
        for page in try 2..<UInt64(scratch.image().count / 4_096) {
            try file.seek(toOffset: page * 4_096 + 10)
            try file.write(contentsOf: Data([0x00, 0x00]))
        }
        try file.close()
        try environment.read { transaction in
            for _ in 0..<3 {
                #expect(
                    code { _ = try transaction.value(environment.nodes, UInt64(500)) }
                        == .corrupted)
            }
            #expect(
                code { try transaction.forEach(in: environment.nodes) { _, _ in true } }
                    == .corrupted)
        }
        var transaction = try environment.beginWrite()
        #expect(code { _ = try transaction.value(environment.nodes, UInt64(500)) } == .corrupted)
        #expect(code { try transaction.put(environment.nodes, UInt64(500), [1]) } == .corrupted)
        do {
            try transaction.commit()
            Issue.record("a transaction with a bad page was committed")
        } catch { #expect(error.code == .corrupted) }
        environment.close()
    }
}
