import Testing

@Suite("What the compiler is told to believe has a reason")
struct UncheckedClaimsTests {
    @Test func repository() {
        expectNone(Repository.current.swiftFiles.flatMap(UncheckedClaims.violations))
    }

    private static let claims = [
        "final class A: @unchecked Sendable {}", "nonisolated(unsafe) var x = 1",
        "let a = try! f()",
        "let a = b as! C", "let a = b!", "let a = f()!", "let a = b[0]!.c", "var a: B!",
        "let a = \"\\(b!)\"",
        "let a: [B]! = nil",
    ]

    @Test(arguments: claims)
    func planted(claim: String) {
        for text in [
            claim, "// Text.\n\n" + claim, "// swift-format-ignore\n" + claim, "//\n" + claim,
        ] {
            #expect(
                UncheckedClaims.violations(in: SourceFile(path: "Sources/M/a.swift", text: text))
                    .count == 1)
        }
    }

    @Test(arguments: claims)
    func withReason(claim: String) {
        for text in [
            claim + "  // It is so.", "// It is so.\n" + claim, "/// It is so.\n@frozen\n" + claim,
        ] {
            #expect(
                UncheckedClaims.violations(in: SourceFile(path: "Sources/M/a.swift", text: text))
                    == [])
        }
    }

    @Test(arguments: [
        "if !a {}", "f(!a)", "a != b", "a !== b", "[!a, !b]", "let x = \"b!\"", "a && !b",
        "a ? !b : c", "{ !$0 }",
        "a!=b",
    ])
    func harmless(text: String) {
        #expect(
            UncheckedClaims.violations(in: SourceFile(path: "Sources/M/a.swift", text: text)) == [])
    }
}
