import ArgumentParser

/// A number of bytes as given on a command line: `1048576`, `50MiB`, `50 MB`.
///
/// `KiB`, `MiB`, `GiB`, `TiB` count in 1,024s and `KB`, `MB`, `GB`, `TB` in 1,000s, in any case.
/// A bare `M` is refused, because programs disagree on what it means.
struct SizeArgument: Sendable, Hashable {
    /// Above zero.
    let bytes: Int

    init(parsing text: String) throws(SizeArgumentError) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty else { throw .notANumber }
        let rest = text[digits.endIndex...]
        // One space at most, and none without a unit behind it.
        let unit = rest.first == " " && rest.count > 1 ? rest.dropFirst() : rest
        guard let multiplier = Self.multiplier(ofUnit: unit.lowercased()) else {
            throw .unknownUnit
        }
        guard let count = Int(digits) else { throw .tooLarge }
        let (bytes, overflows) = count.multipliedReportingOverflow(by: multiplier)
        guard !overflows else { throw .tooLarge }
        guard bytes > 0 else { throw .zero }
        self.bytes = bytes
    }

    private static func multiplier(ofUnit unit: String) -> Int? {
        switch unit {
        case "", "b": 1
        case "kib": 1 << 10
        case "mib": 1 << 20
        case "gib": 1 << 30
        case "tib": 1 << 40
        case "kb": 1_000
        case "mb": 1_000_000
        case "gb": 1_000_000_000
        case "tb": 1_000_000_000_000
        default: nil
        }
    }
}

extension SizeArgument: CustomStringConvertible {
    var description: String { Self.formatted(bytes) }

    /// Bytes for a person to read: `512 B`, `50.0 MiB`.
    static func formatted(_ bytes: Int) -> String {
        var unit = 1
        var name = "B"
        for larger in ["KiB", "MiB", "GiB", "TiB"] {
            // The last twentieth below a unit would be printed as 1024.0 of the smaller one.
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

extension SizeArgument: ExpressibleByArgument {
    init?(argument: String) {
        try? self.init(parsing: argument)
    }
}
