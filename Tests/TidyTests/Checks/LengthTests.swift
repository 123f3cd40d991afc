import Testing

@Suite("Files and functions are short")
struct LengthTests {
    @Test func files() {
        expectNone(Repository.current.swiftFiles.flatMap(FileLength.violations))
    }

    @Test func functions() {
        expectNone(Repository.current.swiftFiles.flatMap(FunctionLength.violations))
    }

    @Test("the allow list names only files that need it")
    func allowList() {
        for path in FileLength.allowed.keys {
            let file = Repository.current.swiftFiles.first { $0.path == path }
            #expect((file?.lines.count ?? 0) > FileLength.limit, "\(path) is not long any more")
        }
    }

    @Test(arguments: [
        (400, "Sources", 0), (401, "Sources", 1), (600, "Tests", 0), (601, "Tests", 1),
    ])
    func longFile(lines: Int, folder: String, found: Int) {
        let file = SourceFile(
            path: "\(folder)/M/a.swift", text: String(repeating: "\n", count: lines))
        #expect(FileLength.violations(in: file).count == found)
    }

    @Test("the allow list ends at 600 lines")
    func hardLimit() {
        let allowed = ["Sources/M/a.swift": "a reason"]
        for (lines, found) in [(600, 0), (601, 1)] {
            let file = SourceFile(
                path: "Sources/M/a.swift", text: String(repeating: "\n", count: lines))
            #expect(FileLength.violations(in: file, allowed: allowed).count == found)
        }
    }

    @Test(arguments: [
        "func f(a: () -> Void = {}) throws -> [Int]\nwhere T: P {", "init?<T>(x: T) {", "deinit {",
        "subscript(i: Int) -> Int {", "var x: [Int] {", "static func == (a: T, b: T) -> Bool {",
    ])
    func longFunction(head: String) {
        let extraLines = head.split(separator: "\n").count - 1
        for (bodyLines, found) in [(68 - extraLines, 0), (69 - extraLines, 1)] {
            let body = String(repeating: "    if a { \"}\" } // }\n", count: bodyLines)
            let text = "protocol P {\n    func g()\n    var y: Int { get }\n}\n\(head)\n\(body)}\n"
            let violations = FunctionLength.violations(
                in: SourceFile(path: "Sources/M/a.swift", text: text))
            #expect(violations.count == found, "\(violations)")
        }
    }
}
