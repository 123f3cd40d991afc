/// How new records are compressed.
///
/// Example: `Configuration(compression: .zstd(level: 9))`.
///
/// What is stored already stays as it is, and is read whatever it was written with, until it is
/// rewritten or the cache is compacted.
public enum Compression: Sendable, Hashable {
    /// Not at all: reads take a third to a half less time, and about twice the bytes.
    case none
    /// By zstd, with dictionaries trained on the cache's own records. Level 1, fastest, to 12,
    /// smallest; 3 is the default.
    case zstd(level: Int)

    /// zstd at level 3.
    public static let standard = Compression.zstd(level: 3)

    /// The levels there are.
    public static let levels = 1...12

    var isSound: Bool {
        guard case .zstd(let level) = self else { return true }
        return Self.levels.contains(level)
    }
}
