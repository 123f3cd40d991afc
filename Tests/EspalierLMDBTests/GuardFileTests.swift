import Dispatch
import EspalierLMDB
import Foundation
import Testing

@Suite("Guard file")
struct GuardFileTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }
    var path: String { scratch.root + "/guard" }

    @Test("A guard file is created on request only, has 64 bytes and is never replaced")
    func creation() throws {
        let other = scratch.root + "/other"
        #expect(code { _ = try GuardFile(path: other, create: false) } == .notFound)
        try #expect(GuardFile(path: other, create: true).generation == 0)
        try #expect(GuardFile(path: other, create: false).generation == 0)
        try #expect(Data(contentsOf: URL(fileURLWithPath: other)) == Data(count: 64))
        #expect(
            code { _ = try GuardFile(path: scratch.root + "/nowhere/guard", create: true) }
                == .notFound)
    }

    @Test("A guard file that is a link or a directory is refused")
    func links() throws {
        let link = scratch.root + "/link"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: scratch.root + "/target")
        #expect(code { _ = try GuardFile(path: link, create: true) } == .badPath)
        #expect(code { _ = try GuardFile(path: scratch.directory, create: false) } == .badPath)
    }

    @Test("A guard's lock excludes other objects and throws .busy at the deadline")
    func exclusion() throws {
        let other = try GuardFile(path: path, create: false)
        try scratch.guardFile.withExclusiveLock { _ in
            #expect(code { try other.withExclusiveLock(deadline: .zero) { _ in } } == .busy)
            #expect(
                code {
                    try scratch.guardFile.withExclusiveLock(deadline: .milliseconds(3)) { _ in }
                } == .busy)
        }
        try other.withExclusiveLock(deadline: .zero) { _ in }
        struct Mine: Error {}
        #expect(throws: Mine.self) { try other.withExclusiveLock { _ in throw Mine() } }
        try other.withExclusiveLock(deadline: .zero) { _ in }
    }

    @Test("All objects of a guard file see each advance of the generation")
    func generation() throws {
        let objects = [scratch.guardFile, try GuardFile(path: path, create: false)]
        let failures = Counter()
        DispatchQueue.concurrentPerform(iterations: 4) { worker in
            for _ in 0..<50 {
                do {
                    try objects[worker % 2].withExclusiveLock(deadline: .seconds(60)) { lock in
                        let before = objects[0].generation
                        if lock.advanceGeneration() != before + 1 { failures.add() }
                    }
                } catch { failures.add() }
            }
        }
        #expect(failures.count == 0)
        #expect(objects.map(\.generation) == [200, 200])
        try #expect(
            Data(contentsOf: URL(fileURLWithPath: path))
                == Data([200] + [UInt8](repeating: 0, count: 63)))
        try #expect(GuardFile(path: path, create: true).generation == 200)
    }

    @Test("A short guard file is extended and a replaced one is refused")
    func oddFiles() throws {
        let short = scratch.root + "/short"
        try Data([5]).write(to: URL(fileURLWithPath: short))
        let guardFile = try GuardFile(path: short, create: false)
        #expect(guardFile.generation == 5)
        #expect(try Data(contentsOf: URL(fileURLWithPath: short)).count == 64)
        try FileManager.default.removeItem(atPath: short)
        #expect(code { try guardFile.withExclusiveLock { _ in } } == .notFound)
        try Data([5]).write(to: URL(fileURLWithPath: short))
        #expect(code { try guardFile.withExclusiveLock { _ in } } == .badPath)
        #expect(guardFile.generation == 5)
    }
}
