import Foundation
import Testing

@Suite("Traits", .enabled(if: Checkout.swift != nil))
struct TraitTests {
    @Test(
        "With all traits off a fresh checkout builds the library and fetches no package",
        .timeLimit(.minutes(5)))
    func fetching() throws {
        let checkout = try Checkout()
        // Without the parts that only debuggers and editors use, which take as long again.
        let (status, text) = try checkout.run([
            "build", "--disable-default-traits", "--target", "Espalier", "--disable-index-store",
            "-debug-info-format", "none",
        ])
        #expect(status == 0, "\(text)")
        #expect(try checkout.fetched() == [])
        #expect(try checkout.names(inScratch: "debug").contains("Espalier.build"))
    }

    @Test(
        "A client of the library fetches a package only with the trait that needs it",
        arguments: [
            ("[]", []), ("[\"Macros\"]", ["swift-syntax"]),
            ("[\"Encryption\"]", ["swift-asn1", "swift-crypto"]),
            ("[\"Server\"]", ["swift-log", "swift-metrics"]),
        ])
    func clients(traits: String, fetched: [String]) throws {
        let client = try Checkout(client: ["Espalier"], traits: traits)
        let (status, text) = try client.run(["package", "resolve"])
        #expect(status == 0, "\(text)")
        #expect(try client.fetched() == fetched)
    }

    @Test(
        "A client names the package by path, by name or by address",
        arguments: Checkout.Form.allCases, [("", ["swift-syntax"]), ("[]", [])])
    func forms(form: Checkout.Form, traits: (name: String, fetched: [String])) throws {
        let client = try Checkout(client: ["Espalier"], by: form, traits: traits.name)
        let (status, text) = try client.run(["package", "resolve"])
        #expect(status == 0, "\(text)")
        let fetched = try client.fetched()
        let own = form == .address ? ["Espalier"] : []
        #expect(fetched == (own + traits.fetched).sorted())
    }

    @Test(
        "A client of the data providers alone builds without LMDB, zstd and the cache",
        .timeLimit(.minutes(5)))
    func providers() throws {
        let client = try Checkout(
            client: ["Providers", "Consistency", "RocketData", "ConsistencyManager"], traits: "[]")
        let (status, text) = try client.run([
            "build", "--disable-index-store", "-debug-info-format", "none",
        ])
        #expect(status == 0, "\(text)")
        #expect(try client.fetched() == [])
        // SwiftPM makes a build folder for every target that it knows, but only compiles some.
        let compiled = try client.names(inScratch: "debug/Modules")
        #expect(compiled.contains("EspalierProviders.swiftmodule"))
        for name in ["EspalierLMDB", "EspalierCompression", "EspalierStore"] {
            #expect(!compiled.contains("\(name).swiftmodule"), "\(name)")
        }
        // The names of the libraries that a program is linked with stand in its file.
        let program = try client.contents(inScratch: "debug/Client")
        for name in ["liblmdb", "libzstd"] {
            #expect(program.firstRange(of: Data(name.utf8)) == nil, "\(name)")
        }
    }

    @Test(
        "A client's schemas become models when it is built, and the plugin fetches no package",
        .timeLimit(.minutes(5)))
    func plugin() throws {
        // An enum needs no macro, and so no swift-syntax.
        let client = try Checkout(
            client: ["Macros"], traits: "[]", plugins: ["EspalierGenerate"],
            sources: [
                "order.schema.json": #"{"$defs": {"state": {"enum": ["open", "sent"]}}}"#,
                "espalier-generate.json": #"{"import": "EspalierNormalized"}"#,
                "main.swift": "print(State(rawValue: \"open\"), State(rawValue: \"lost\"))\n",
            ])
        let (status, text) = try client.run([
            "run", "--disable-index-store", "-debug-info-format", "none",
        ])
        #expect(status == 0, "\(text)")
        #expect(text.hasSuffix("open unknown(\"lost\")\n"), "\(text)")
        #expect(!text.contains("warning: "), "\(text)")
        #expect(try client.fetched() == [])
    }

    @Test("The tool depends on nothing of the macro with any traits, and the library does")
    func tool() throws {
        let manifest = try Checkout().manifest()
        let tool = try manifest.reached(from: "EspalierCLI")
        #expect(tool.contains("EspalierStore") && tool.contains("swift-argument-parser"))
        #expect(
            tool.isDisjoint(with: ["EspalierMacros", "EspalierNormalized", "swift-syntax"]),
            "\(tool.sorted())")
        #expect(
            try manifest.reached(from: "EspalierGenerate") == [
                "espalier-generate", "EspalierGeneration",
            ])
        let library = try manifest.reached(from: "Espalier")
        #expect(library.isSuperset(of: ["EspalierMacros", "EspalierNormalized", "swift-syntax"]))
        #expect(library.isDisjoint(with: ["swift-argument-parser", "hdrhistogram-swift"]))
    }
}
