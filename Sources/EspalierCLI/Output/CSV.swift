/// Comma-separated values as RFC 4180 has them.
enum CSV {
    static func line(_ fields: [String]) -> String { fields.map(quoted).joined(separator: ",") }

    private static func quoted(_ field: String) -> String {
        let special: Set<Unicode.Scalar> = [",", "\"", "\n", "\r"]
        guard field.unicodeScalars.contains(where: special.contains) else { return field }
        return "\""
            + String(
                String.UnicodeScalarView(
                    field.unicodeScalars.flatMap { $0 == "\"" ? [$0, $0] : [$0] }))
            + "\""
    }
}
