#if CommandLine
import Foundation
import Synchronization
import Testing

@testable import EspalierCLI

@Suite("Narration of the demo")
struct NarrationTests {
    /// Keeps what was written.
    private final class Page: Sendable {
        private let written = Mutex("")
        var text: String { written.withLock { $0 } }
        func write(_ text: String) { written.withLock { $0 += text } }
    }

    private let page = Page()

    private func narration(isLive: Bool = false, isColored: Bool = false, width: Int = 40)
        -> Narration
    {
        Narration(palette: Palette(isColored: isColored), width: width, isLive: isLive) { [page] in
            page.write($0)
        }
    }

    @Test("The demo ends at a claim that does not hold, and names it")
    func claims() throws {
        try narration().claim("two and two are four", true)
        #expect(page.text == "   ✓ two and two are four\n")
        #expect(throws: CommandFailure("the demo found untrue: two and two are five")) {
            try narration().claim("two and two are five", false)
        }
        #expect(page.text.hasSuffix("   ✗ two and two are five\n"))
    }

    @MainActor
    @Test("The demo fails if the cache returns something other than it must")
    func different() async throws {
        let folder = try ScratchFolder()
        let data = SocialFeed(seed: 1, messages: 200)
        let directory = try DemoDirectory(keeping: folder.url.appendingPathComponent("c").path)
        var demonstration = try Demonstration(narration(width: 80), in: directory, data)
        demonstration.feed[150] = demonstration.feed[149]
        await #expect(throws: CommandFailure.self) { try await demonstration.run() }
        #expect(page.text.contains("✗ read back whole"))
        #expect(!page.text.contains("2  One tree"))
    }

    @Test("The demo breaks sentences at spaces, under their heading")
    func wrapping() throws {
        try narration(width: 20).step(1, "Store", "one two three four five")
        #expect(page.text == "\n1  Store\n   one two three\n   four five\n\n")
    }

    @Test(
        "A progress bar is drawn over itself on a terminal, and elsewhere printed once at the end")
    func progress() throws {
        let bar = ProgressBar(total: 10, unit: "messages")
        for done in [4, 8, 10] { try narration(isLive: true, width: 60).progress(bar, done: done) }
        let drawn = page.text
        #expect(drawn.count { $0 == "\r" } == 3)
        #expect(drawn.hasSuffix("100 %  10 of 10 messages\n"))
        #expect(drawn.count { $0 == "\n" } == 1)
        for done in [4, 8, 10] { try narration(width: 60).progress(bar, done: done) }
        let plain = page.text.dropFirst(drawn.count)
        #expect(!plain.contains("\r"))
        #expect(plain.count { $0 == "\n" } == 1)
    }
}
#endif
