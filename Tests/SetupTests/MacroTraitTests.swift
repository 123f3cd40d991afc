import Foundation
import Testing

@Suite("Who wants no macro does not pay for one", .enabled(if: Checkout.swift != nil))
struct MacroTraitTests {
    @Test(
        "with the trait off a fresh checkout builds the library and fetches no swift-syntax",
        .timeLimit(.minutes(5)))
    func fetching() throws {
        let checkout = try Checkout()
        // Without what only debuggers and editors use, which takes as long again.
        let (status, text) = try checkout.run([
            "build", "--disable-default-traits", "--target", "Espalier", "--disable-index-store",
            "-debug-info-format",
            "none",
        ])
        #expect(status == 0, "\(text)")
        let fetched = try ["checkouts", "repositories"].flatMap {
            try checkout.names(inScratch: $0)
        }
        #expect(fetched.contains { $0.hasPrefix("swift-argument-parser") }, "\(fetched)")
        #expect(!fetched.contains { $0.hasPrefix("swift-syntax") }, "\(fetched)")
        #expect(try checkout.names(inScratch: "debug").contains("Espalier.build"))
    }

    @Test(
        "the tool depends on nothing of the macro, with or without the trait; the library does with it"
    )
    func tool() throws {
        let manifest = try Checkout().manifest()
        let tool = try manifest.reached(from: "EspalierCLI")
        #expect(tool.contains("EspalierStore") && tool.contains("swift-argument-parser"))
        #expect(
            tool.isDisjoint(with: ["EspalierMacros", "EspalierNormalized", "swift-syntax"]),
            "\(tool.sorted())")
        let library = try manifest.reached(from: "Espalier")
        #expect(library.isSuperset(of: ["EspalierMacros", "EspalierNormalized", "swift-syntax"]))
    }
}
