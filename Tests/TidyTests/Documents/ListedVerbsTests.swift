import Testing

@Suite("README has every verb")
struct ListedVerbsTests {
    @Test func repository() throws {
        let repository = Repository.current
        let readme = try #require(repository.texts["README.md"])
        expectNone(ListedVerbs.violations(in: repository.swiftFiles, readme: readme))
        #expect(ListedVerbs.violations(in: repository.swiftFiles, readme: "").count > 10)
    }

    @Test("a verb that is not there is found")
    func missing() {
        let file = SourceFile(
            path: "Sources/EspalierCLI/Verbs/PruneVerb.swift", text: "x(commandName: \"prune\",")
        #expect(ListedVerbs.violations(in: [file], readme: "`ls` `grep`").count == 1)
        #expect(ListedVerbs.violations(in: [file], readme: "`ls` `prune`").isEmpty)
    }
}
