/// As many ticks along a horizontal axis as have room for their labels.
struct AxisTicks {
    let scale: Scale?
    let labels: [(position: Double, label: String)]

    private static let size = 11.5
    private static let gap = 14.0

    /// - Parameter make: a scale of at most so many ticks.
    init(length: Double, unit: ChartUnit, scale make: (Int) -> Scale?) {
        var best: (Scale?, [(Double, String)]) = (make(2), [])
        for count in stride(from: 8, through: 2, by: -1) {
            guard let scale = make(count) else { break }
            let texts = unit.labels(of: scale.ticks, on: scale.kind)
            let labels = zip(scale.ticks, texts).compactMap { tick, text in
                scale.position(of: tick).map { (position: $0, label: text) }
            }
            best = (scale, Self.apart(labels, length: length))
            if best.1.count == labels.count { break }
        }
        scale = best.0
        labels = best.1.map { (position: $0.0, label: $0.1) }
    }

    /// Without those that would run into the one before.
    static func apart(_ labels: [(position: Double, label: String)], length: Double) -> [(
        Double, String
    )] {
        var end = -Double.infinity
        return labels.compactMap { position, label in
            let half = label.width(at: size) / 2
            guard position * length - half >= end + gap || end == -.infinity else { return nil }
            end = position * length + half
            return (position, label)
        }
    }
}
