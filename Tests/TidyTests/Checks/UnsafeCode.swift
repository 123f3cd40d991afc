/// Unsafe code stands in few files, so that all of it can be read at once.
enum UnsafeCode {
    static let allowedModules: Set<String> = ["EspalierLMDB", "EspalierCompression"]

    /// File names by module.
    static let allowedFiles: [String: Set<String>] = [
        // What reads and writes bytes: the whole of the folder Bytes.
        "EspalierRecords": [
            "ByteReader.swift", "ByteWriter.swift", "Confined.swift", "RecordArena.swift",
            "RecordBuffer.swift",
            "StackSpace.swift", "String+Bytes.swift", "XXHash64.swift",
        ],
        // The floor that the bench measures against must not be slowed by safety; a terminal is
        // asked in C.
        "EspalierCLI": ["FloorReader.swift", "Terminal.swift"],
    ]

    static func violations(in file: SourceFile) -> [Violation] {
        guard file.isInSources, let module = file.module, !allowedModules.contains(module),
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
