import ArgumentParser
import EspalierStore

/// How what a verb writes is compressed.
struct CompressionOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How records are compressed: none, or the level of zstd from 1, fastest, to 12, smallest; 3 without.",
            discussion:
                "It is of the records written now only. What is stored already is read whatever it was written with.",
            valueName: "none|level"),
        transform: Self.parse)
    var compression: Compression?

    private static func parse(_ text: String) throws(ArgumentProblem) -> Compression {
        if text == "none" { return .none }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let level = Int(text),
            Compression.levels.contains(level)
        else {
            let levels = Compression.levels
            throw ArgumentProblem(
                "none, or a level from \(levels.lowerBound) to \(levels.upperBound)")
        }
        return .zstd(level: level)
    }
}
