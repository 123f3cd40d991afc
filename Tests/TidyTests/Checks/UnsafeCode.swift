import Testing

/// Unsafe code stands in few files, so that all of it can be read at once.
enum UnsafeCode {
    static let allowedModules: Set<String> = [
        "EspalierLMDB", "EspalierCompression", "EspalierConfinement",
    ]

    /// File names by module.
    static let allowedFiles: [String: Set<String>] = [
        // swift-crypto takes its input from buffers, and returns keys and codes in them.
        "EspalierEncryption": ["Sealer.swift", "KeyHeader.swift"],
        // The bytes of records; names that are compared without being retained.
        "EspalierRecords": [
            "ByteArrays.swift", "ByteReader.swift", "FieldPlan.swift", "ByteWriter.swift",
            "StackSpace.swift", "StringBytes.swift", "TreeRecorder.swift", "XXHash64.swift",
        ],
        // Names, which are searched in place: every look-up of a record compares some twenty.
        // WallClock.swift: the time of a monotonic clock, as a number of nanoseconds.
        "EspalierStore": ["IndexGroup.swift", "WallClock.swift"],
        // The hand-written baseline must not be slowed by safety.
        "EspalierFixtures": ["HandWrittenBaseline.swift", "RawEnvironment.swift"],
        // Foundation tells by a type code of Objective-C whether a number has a fraction.
        "EspalierGeneration": ["JSON.swift"],
        // The size of a terminal is known only to C.
        "EspalierCLI": ["Terminal.swift"],
    ]

    static func violations(in file: SourceFile) -> [Violation] {
        guard file.isInProduct, let module = file.module, !allowedModules.contains(module),
            allowedFiles[module]?.contains(file.name) != true
        else { return [] }
        return file.tokens.indices.compactMap { index in
            let token = file.tokens[index]
            guard token.text.hasPrefix("Unsafe") || isKeyword(at: index, in: file.tokens) else {
                return nil
            }
            return file.violation(
                line: token.line, "unsafe code outside of the modules and files kept for it")
        }
    }

    /// `nonisolated(unsafe)` is about data races, and has a rule of its own.
    private static func isKeyword(at index: Int, in tokens: [Token]) -> Bool {
        guard tokens[index].text == "unsafe" else { return false }
        let isIsolation = index >= 2 && tokens[index - 2].text == "nonisolated"
        let isMember = index >= 1 && tokens[index - 1].text == "."
        let isLabel = index + 1 < tokens.count && tokens[index + 1].text == ":"
        return !isIsolation && !isMember && !isLabel
    }
}

/// A claim that the compiler cannot check (`@unchecked`, `nonisolated(unsafe)`, `try!`, `as!`, `!`)
/// carries its reason, in a comment on the line or above it.
enum UncheckedClaims {
    static func violations(in file: SourceFile) -> [Violation] {
        guard file.isInSources else { return [] }
        return file.tokens.indices.compactMap { index in
            guard let claim = claim(at: index, in: file.tokens) else { return nil }
            let line = file.tokens[index].line
            return hasReason(line: line, in: file)
                ? nil : file.violation(line: line, "\(claim) without a reason")
        }
    }

    private static func claim(at index: Int, in tokens: [Token]) -> String? {
        let previous = index > 0 ? tokens[index - 1].text : ""
        switch tokens[index].text {
        case "unchecked" where previous == "@": return "@unchecked"
        case "unsafe" where index >= 2 && tokens[index - 2].text == "nonisolated":
            return "nonisolated(unsafe)"
        case "!" where tokens[index].isAttached:
            // A prefix operator follows an opening bracket or another operator, `!=` an operand and
            // a space.
            if index + 1 < tokens.count, tokens[index + 1].text == "=", tokens[index + 1].isAttached
            {
                return nil
            }
            if previous == "try" || previous == "as" { return previous + "!" }
            let isPostfix =
                tokens[index - 1].isWord || [")", "]", "}", ">", "?"].contains(previous)
            return isPostfix ? "forced unwrapping" : nil
        default: return nil
        }
    }

    private static func hasReason(line: Int, in file: SourceFile) -> Bool {
        if isReason(file.commentLines[line - 1]) { return true }
        var above = line - 1
        while above > 0, file.codeLines[above - 1].drop(while: { $0 == " " }).hasPrefix("@") {
            above -= 1
        }
        return above > 0 && isReason(file.commentLines[above - 1])
    }

    private static func isReason(_ comment: String) -> Bool {
        let words = comment.drop { " /*".contains($0) }
        return words.contains(where: \.isLetter) && !words.hasPrefix("swift-format-")
            && !words.hasPrefix("MARK:")
    }
}

@Suite("Unsafe code stands where it is expected")
struct UnsafeCodeTests {
    @Test("Unsafe code of the repository stands only in the files kept for it")
    func repository() {
        expectNone(Repository.current.swiftFiles.flatMap(UnsafeCode.violations))
    }

    @Test("The allow list of unsafe code names only files that need it")
    func allowList() {
        let files = Repository.current.swiftFiles
        for (module, names) in UnsafeCode.allowedFiles {
            for name in names {
                let file = files.first { $0.module == module && $0.name == name }
                #expect(
                    file?.tokens.contains { $0.text == "unsafe" || $0.text.hasPrefix("Unsafe") }
                        == true,
                    "\(module) has no unsafe code in \(name)")
            }
        }
    }

    @Test(
        "Unsafe code elsewhere is found",
        arguments: [
            "let x = unsafe f()", "func f(_ p: UnsafeRawPointer)", "for unsafe x in y {}",
            "@unsafe func f() {}",
            "let x: UnsafeMutableBufferPointer<UInt8>?",
        ])
    func planted(text: String) {
        for path in [
            "Sources/EspalierStore/a.swift", "Sources/EspalierRecords/Shape.swift",
            "Benchmarks/Suites/a.swift",
        ] {
            #expect(UnsafeCode.violations(in: SourceFile(path: path, text: text)).count == 1)
        }
        for path in [
            "Sources/EspalierLMDB/a.swift", "Sources/EspalierRecords/Codec/ByteReader.swift",
            "Benchmarks/Fixtures/RawEnvironment.swift", "Benchmarks/Sources/a.swift",
        ] {
            #expect(UnsafeCode.violations(in: SourceFile(path: path, text: text)) == [])
        }
    }

    @Test(
        "Words that are no unsafe code are not found",
        arguments: [
            "// unsafe", "\"Unsafe\"", "nonisolated(unsafe) var x = 1", "f(unsafe: 1)",
            "let x = A.unsafe",
        ])
    func harmless(text: String) {
        #expect(
            UnsafeCode.violations(in: SourceFile(path: "Sources/EspalierStore/a.swift", text: text))
                == [])
    }
}

@Suite("Claims that the compiler cannot check have a reason")
struct UncheckedClaimsTests {
    @Test("Every unchecked claim of the repository has a reason")
    func repository() {
        expectNone(Repository.current.swiftFiles.flatMap(UncheckedClaims.violations))
    }

    private static let claims = [
        "final class A: @unchecked Sendable {}", "nonisolated(unsafe) var x = 1",
        "let a = try! f()",
        "let a = b as! C", "let a = b!", "let a = f()!", "let a = b[0]!.c", "var a: B!",
        "let a = \"\\(b!)\"",
        "let a: [B]! = nil",
    ]

    @Test("Claims without a reason are found", arguments: claims)
    func planted(claim: String) {
        for text in [
            claim, "// Text.\n\n" + claim, "// swift-format-ignore\n" + claim, "//\n" + claim,
        ] {
            #expect(
                UncheckedClaims.violations(in: SourceFile(path: "Sources/M/a.swift", text: text))
                    .count == 1)
        }
    }

    @Test("Claims with a reason are not found", arguments: claims)
    func withReason(claim: String) {
        for text in [
            claim + "  // It is so.", "// It is so.\n" + claim, "/// It is so.\n@frozen\n" + claim,
        ] {
            #expect(
                UncheckedClaims.violations(in: SourceFile(path: "Sources/M/a.swift", text: text))
                    == [])
        }
    }

    @Test(
        "Other exclamation marks are no claims",
        arguments: [
            "if !a {}", "f(!a)", "a != b", "a !== b", "[!a, !b]", "let x = \"b!\"", "a && !b",
            "a ? !b : c", "{ !$0 }",
            "a!=b",
        ])
    func harmless(text: String) {
        #expect(
            UncheckedClaims.violations(in: SourceFile(path: "Sources/M/a.swift", text: text)) == [])
    }
}
