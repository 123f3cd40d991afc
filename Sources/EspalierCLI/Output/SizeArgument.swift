#if CommandLine
/// A number of bytes from the command line: `1048576`, `50MiB`, `1.5 GB`.
///
/// `KiB`, `MiB`, `GiB`, `TiB` are powers of 1,024 and `KB`, `MB`, `GB`, `TB` of 1,000, in any case.
/// A bare `M` is an error, because programs disagree on its meaning.
struct SizeArgument: Sendable, Hashable {
    /// Above zero.
    let bytes: Int

    private static let multipliers = [
        "": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
        "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000, "tb": 1_000_000_000_000,
    ]

    init(parsing text: String) throws(ArgumentProblem) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty else { throw .notASize }
        var rest = text[digits.endIndex...]
        var fraction = rest.prefix(0)
        if rest.first == "." {
            fraction = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard !fraction.isEmpty, fraction.count <= 6 else { throw .notASize }
            rest = rest[fraction.endIndex...]
        }
        // Allows one space, if a unit follows it.
        let unit = rest.first == " " && rest.count > 1 ? rest.dropFirst() : rest
        guard let multiplier = Self.multipliers[unit.lowercased()] else { throw .unknownUnit }
        let product = Int(digits)?.multipliedReportingOverflow(by: multiplier)
        guard let product, !product.overflow else { throw .sizeTooLarge }
        // A part of a byte is dropped. Six digits of the largest unit do not overflow.
        var (part, divisor) = (Int(fraction) ?? 0, 1)
        for _ in fraction { divisor *= 10 }
        part = part * multiplier / divisor
        let (sum, isTooLarge) = product.partialValue.addingReportingOverflow(part)
        guard !isTooLarge else { throw .sizeTooLarge }
        guard fraction.isEmpty || multiplier > 1 else { throw .notASize }
        guard sum > 0 else { throw .noSize }
        bytes = sum
    }
}

extension ArgumentProblem {
    static let notASize = ArgumentProblem(
        "a size is a number of bytes or of a unit, as in 1048576, 50MiB or 1.5GiB; up to 6 decimals"
    )
    static let unknownUnit = ArgumentProblem(
        "the unit of a size is one of B, KB, MB, GB, TB, KiB, MiB, GiB, TiB, as in 50MiB")
    static let noSize = ArgumentProblem("a size is above zero, as in 50MiB")
    static let sizeTooLarge = ArgumentProblem("a size is less than 8 EiB, as in 50MiB")
}

extension SizeArgument: CustomStringConvertible {
    var description: String { Self.formatted(bytes) }

    /// Returns bytes as text for a person: `512 B`, `50.0 MiB`.
    static func formatted(_ bytes: Int) -> String {
        var unit = 1
        var name = "B"
        for larger in ["KiB", "MiB", "GiB", "TiB"] {
            // The last twentieth below a unit would print as 1024.0 of the smaller unit.
            guard bytes >= unit * 1024 - unit / 20 else { break }
            unit *= 1024
            name = larger
        }
        guard unit > 1 else { return "\(bytes) B" }
        let (whole, rest) = bytes.quotientAndRemainder(dividingBy: unit)
        let tenths = (rest * 10 + unit / 2) / unit
        return "\(whole + tenths / 10).\(tenths % 10) \(name)"
    }
}
#endif
