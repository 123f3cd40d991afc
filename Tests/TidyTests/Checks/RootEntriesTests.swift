import Testing

@Suite("The root of the repository holds what belongs there")
struct RootEntriesTests {
    @Test func repository() {
        #expect(Repository.current.rootEntries.contains("Package.swift"))
        expectNone(RootEntries.violations(in: Repository.current.rootEntries))
    }

    @Test(arguments: [
        "feed.cache", "guard", "g-36dc39aec51a374d", "Package.swift~", "build", ".DS_Store",
        "notes.md",
    ])
    func stray(entry: String) {
        #expect(
            RootEntries.violations(in: ["Sources", entry, ".build-docs"]).map(\.place) == [entry])
    }

    @Test(arguments: [
        "Sources", ".ci", ".git", ".build", ".build-docs", ".swiftpm", "Package.resolved",
        "LICENSE",
    ])
    func known(entry: String) {
        #expect(RootEntries.violations(in: [entry]) == [])
    }
}
