// How the demo writes numbers, whatever the language of the system.

extension Int {
    /// With a comma between thousands: `12,000`.
    var grouped: String {
        var digits = Array(String(magnitude))
        for index in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: index) }
        return (self < 0 ? "-" : "") + String(digits)
    }
}

extension Duration {
    /// Whole milliseconds, one below a millisecond: `84 ms`, `0.3 ms`.
    var milliseconds: String {
        let microseconds =
            Int(components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000)
        guard microseconds < 1_000 else { return "\(((microseconds + 500) / 1_000).grouped) ms" }
        return "0.\(microseconds / 100) ms"
    }
}
