extension Cell {
    /// How many times as long as stored it would be raw; nothing where that is not known.
    static func ratio(raw: Int?, stored: Int?) -> Cell {
        guard let raw, let stored, stored > 0 else { return .nothing }
        return .real(Double(raw) / Double(stored), decimals: 2)
    }
}
