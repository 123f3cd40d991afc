#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("Sizes are read and printed with units")
struct SizeArgumentTests {
    @Test(
        "A size is parsed with its unit",
        arguments: [
            ("1048576", 1_048_576), ("1", 1), ("12B", 12), ("64KiB", 65_536), ("64KB", 64_000),
            ("64kB", 64_000),
            ("50MiB", 52_428_800), ("50MB", 50_000_000), ("50 MB", 50_000_000),
            ("50mib", 52_428_800),
            ("1GiB", 1_073_741_824), ("1gb", 1_000_000_000), ("2TiB", 2_199_023_255_552),
            ("007", 7), ("1.5MiB", 1_572_864), ("0.5 GB", 500_000_000),
            ("9223372036854775807", Int.max), ("1.999999TiB", 2_199_022_156_040),
            ("8388607TiB", 8_388_607 << 40),
        ])
    func parsing(text: String, bytes: Int) throws {
        #expect(try SizeArgument(parsing: text).bytes == bytes)
        #expect(SizeArgument(argument: text)?.bytes == bytes)
    }

    @Test(
        "A malformed size is refused",
        arguments: [
            ("", .notASize), ("-1", .notASize), ("+1", .notASize), ("MiB", .notASize),
            (" 1", .notASize),
            ("٣", .notASize), ("0", .noSize), ("0MiB", .noSize), ("0.0MiB", .noSize),
            ("1.5", .notASize), ("1.5B", .notASize), ("1.MiB", .notASize), (".5MiB", .notASize),
            ("1.5.5MiB", .unknownUnit), ("1.1234567MiB", .notASize),
            ("50M", .unknownUnit),
            ("50  MB", .unknownUnit), ("50 ", .unknownUnit), ("50MB ", .unknownUnit),
            ("5 0", .unknownUnit),
            ("0x10", .unknownUnit), ("1e6", .unknownUnit), ("9223372036854775808", .sizeTooLarge),
            ("8388608TiB", .sizeTooLarge), ("99999999999999999999MiB", .sizeTooLarge),
        ] as [(String, ArgumentProblem)])
    func rejects(text: String, error: ArgumentProblem) {
        #expect(throws: error) { try SizeArgument(parsing: text) }
        #expect(SizeArgument(argument: text) == nil)
    }

    @Test(
        "A size is printed with its unit",
        arguments: [
            (0, "0 B"), (512, "512 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
            (52_428_800, "50.0 MiB"), (1_048_575, "1.0 MiB"), (1_048_524, "1023.9 KiB"),
            (1_048_525, "1.0 MiB"),
            (1_073_741_824, "1.0 GiB"), (3 << 40, "3.0 TiB"), (Int.max, "8388608.0 TiB"),
        ])
    func formatting(bytes: Int, text: String) {
        #expect(SizeArgument.formatted(bytes) == text)
    }
}
#endif
