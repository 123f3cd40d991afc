#if Macros
import Foundation
import Testing

@Suite("samples")
struct SampleTests {
    @Test("the messenger prints what is printed beside it, run after run")
    func messages() throws {
        let expected = try #require(Repository.current.texts["Examples/Messages/output.txt"])
        for _ in 0..<5 { #expect(try SnippetRun.output(of: "Messages") == expected) }
    }
}
#endif
