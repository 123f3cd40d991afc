/// How far apart values stand along an axis.
public enum ChartScale: Sendable, Hashable {
    /// By their difference, from zero on.
    case linear
    /// By their ratio; what is zero or less has no place on it.
    case logarithmic
}
