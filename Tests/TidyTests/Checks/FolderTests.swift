import Testing

@Suite("The folder tree is a table of contents")
struct FolderTests {
    @Test func repository() {
        expectNone(Folders.violations(in: Repository.current.paths))
    }

    @Test(arguments: ["Utils", "Helpers", "Common", "Core"])
    func emptyNames(name: String) {
        #expect(Folders.violations(in: ["Sources/M/\(name)/a.swift"]).count == 1)
        #expect(Folders.violations(in: ["Sources/M/\(name)Data/a.swift"]) == [])
    }

    @Test func crowdedFolder() {
        func paths(_ count: Int) -> [String] { (0..<count).map { "Sources/M/\($0).swift" } }
        #expect(
            Folders.violations(in: paths(25) + ["Sources/M/N/x.swift", "Sources/M/x.md"]) == [])
        #expect(Folders.violations(in: paths(26)).count == 1)
    }
}
