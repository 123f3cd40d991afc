extension Cell {
    /// Nothing where it is not known.
    static func nanoseconds(_ duration: Duration?) -> Cell {
        duration.map { .nanoseconds(Int(clamping: $0.wholeNanoseconds)) } ?? .nothing
    }

    /// Nothing where it is not known.
    static func seconds(_ duration: Duration?) -> Cell {
        duration.map { .seconds(Int(clamping: $0.components.seconds)) } ?? .nothing
    }
}

extension Duration {
    /// In whole ones, for some centuries.
    fileprivate var wholeNanoseconds: Int128 {
        Int128(components.seconds) * 1_000_000_000 + Int128(components.attoseconds / 1_000_000_000)
    }
}
