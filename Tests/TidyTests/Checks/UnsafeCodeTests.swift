import Testing

@Suite("Unsafe code stands where it is expected")
struct UnsafeCodeTests {
    @Test func repository() {
        expectNone(Repository.current.swiftFiles.flatMap(UnsafeCode.violations))
    }

    @Test("the allow list names only files that exist")
    func allowList() {
        let paths = Repository.current.swiftFiles.filter(\.isInSources)
        for (module, names) in UnsafeCode.allowedFiles
        where paths.contains(where: { $0.module == module }) {
            let present = Set(paths.filter { $0.module == module }.map(\.name))
            #expect(names.subtracting(present) == [], "of \(module)")
        }
    }

    @Test(arguments: [
        "let x = unsafe f()", "func f(_ p: UnsafeRawPointer)", "for unsafe x in y {}",
        "@unsafe func f() {}",
        "let x: UnsafeMutableBufferPointer<UInt8>?",
    ])
    func planted(text: String) {
        for path in ["Sources/EspalierStore/a.swift", "Sources/EspalierRecords/Shape.swift"] {
            #expect(UnsafeCode.violations(in: SourceFile(path: path, text: text)).count == 1)
        }
        for path in [
            "Sources/EspalierLMDB/a.swift", "Sources/EspalierRecords/Codec/ByteReader.swift",
        ] {
            #expect(UnsafeCode.violations(in: SourceFile(path: path, text: text)) == [])
        }
    }

    @Test(arguments: [
        "// unsafe", "\"Unsafe\"", "nonisolated(unsafe) var x = 1", "f(unsafe: 1)",
        "let x = A.unsafe",
    ])
    func harmless(text: String) {
        #expect(
            UnsafeCode.violations(in: SourceFile(path: "Sources/EspalierStore/a.swift", text: text))
                == [])
    }
}
