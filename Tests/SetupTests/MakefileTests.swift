import Foundation
import Testing

@Suite("The Makefile")
struct MakefileTests {
    private let lines: [Substring]

    init() throws {
        let root = SimulatedSystem.script.deletingLastPathComponent().deletingLastPathComponent()
        lines = try String(contentsOf: root.appending(path: "Makefile"), encoding: .utf8).split(
            separator: "\n")
    }

    @Test("`make help` has a line for every target except `all`")
    func help() throws {
        let targets = try #require(lines.first { $0.hasPrefix(".PHONY:") }).split(separator: " ")
            .dropFirst()
        #expect(targets.contains("demo") && targets.contains("test"))
        for target in targets where target != "all" {
            #expect(
                lines.contains { $0.hasPrefix("\(target):") && $0.contains(" ## ") }, "\(target)")
        }
    }

    @Test("`make release` and `make demo` build the tool without the macro")
    func traits() {
        let builds = lines.filter {
            $0.hasPrefix("\t$(SWIFT) build") && $0.contains("RELEASE_FLAGS")
        }
        #expect(builds.count == 1)
        #expect(
            lines.contains {
                $0.hasPrefix("RELEASE_FLAGS") && $0.contains("--traits CommandLine ")
            })
        #expect(lines.contains { $0.hasPrefix("demo: release") })
    }
}
