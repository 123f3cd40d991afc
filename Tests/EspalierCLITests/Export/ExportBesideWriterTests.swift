#if CommandLine
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation
import Synchronization
import Testing

@testable import EspalierCLI

@Suite("While another process writes")
struct ExportBesideWriterTests {
    private struct Post: Codable, NormalizedModel {
        var id: Int
        var version: Int
        var authors: [Author]
        var modelIdentifier: String? { "Post:\(id)" }
    }

    private struct Author: Codable, NormalizedModel {
        var id: Int
        var version: Int
        var modelIdentifier: String? { "Author:\(id)" }
    }

    @Test("An export is of one commit, and an import keeps concurrent writes")
    func exports() throws {
        let tool = try CommandLineTool()
        let cache = try NormalizedCache(
            directory: tool.folder.url.appendingPathComponent("c").path,
            configuration: Configuration(durability: .noSync))
        let isDone = Atomic(false)
        let rounds = Atomic(0)
        let thread = Thread {
            var version = 0
            while !isDone.load(ordering: .relaxed) {
                version += 1
                for id in 0..<20 {
                    let authors = (0..<3).map {
                        Author(id: (id * 7 + $0 + version) % 50, version: version)
                    }
                    cache.set(Post(id: id, version: version, authors: authors))
                }
                cache.delete("Author:\(version % 50)")
                cache.setCollection(
                    (0..<20).map { Author(id: $0, version: version) }, forKey: "all")
                try? cache.delete("Post:\(version % 20)").wait()
                rounds.add(1, ordering: .relaxed)
            }
        }
        thread.start()
        for number in 0..<6 {
            let before = rounds.load(ordering: .relaxed)
            let export = try tool.succeed("export", "c")
            try tool.succeed("import", "copy\(number)", "-", "--records", input: export.text)
            try tool.succeed("verify", "copy\(number)")
            // Imports into the cache that is being written.
            try tool.succeed("import", "c", "-", "--records", input: export.text)
            while rounds.load(ordering: .relaxed) == before { Thread.sleep(forTimeInterval: 0.001) }
        }
        isDone.store(true, ordering: .relaxed)
        while !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
        #expect(try cache.verify().isClean)
        cache.close()
        try tool.expectCopies(of: "c", to: "last")
    }
}
#endif
