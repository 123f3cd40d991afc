import Foundation

/// Places values and ticks along an axis. Ticks are at 1, 2 or 5 times a power of ten.
struct Scale: Equatable {
    let kind: ChartScale
    let lower: Double
    let upper: Double
    let ticks: [Double]

    /// Values beyond these limits are drawn at the end of the axis, so that no step overflows.
    private static let limits = (smallest: 1e-100, largest: 1e100)

    /// Returns a position from 0 at the lower end to 1 at the upper, or nil if the value has no
    /// place.
    func position(of value: Double) -> Double? {
        guard kind.hasPlace(for: value) else { return nil }
        let share =
            switch kind {
            case .linear: (Self.limited(value, kind) - lower) / (upper - lower)
            case .logarithmic:
                (log10(Self.limited(value, kind)) - log10(lower)) / (log10(upper) - log10(lower))
            }
        return min(max(share, 0), 1)
    }

    /// Returns a scale for bars, or nil if no value has a place. Bars start at zero, or on a
    /// logarithmic scale somewhat below the smallest value. The longest bar ends at the end.
    static func bars(_ values: [Double], on kind: ChartScale, maxTicks: Int) -> Scale? {
        guard let (smallest, largest) = range(of: values, on: kind) else { return nil }
        switch kind {
        case .linear:
            let upper = largest > 0 ? largest : 1
            return linear(from: 0, to: upper, maxTicks: maxTicks, rounded: false)
        case .logarithmic:
            let lower = Self.power(below: smallest * 0.7)
            return logarithmic(from: lower, to: max(largest, lower * 2), maxTicks: maxTicks)
        }
    }

    /// Returns a scale for lines, or nil if no value has a place. It begins and ends at a tick. A
    /// linear scale contains zero.
    static func lines(_ values: [Double], on kind: ChartScale, maxTicks: Int) -> Scale? {
        guard let (smallest, largest) = range(of: values, on: kind) else { return nil }
        switch kind {
        case .linear:
            let (lower, upper) = (min(0, smallest), max(0, largest))
            return linear(
                from: lower, to: lower == upper ? 1 : upper, maxTicks: maxTicks, rounded: true)
        case .logarithmic:
            var (lower, upper) = (Self.step(below: smallest), Self.step(above: largest))
            if upper / lower < 1.5 { (lower, upper) = (lower / 10, upper * 10) }
            return logarithmic(from: lower, to: upper, maxTicks: maxTicks)
        }
    }

    private static func linear(from lower: Double, to upper: Double, maxTicks: Int, rounded: Bool)
        -> Scale
    {
        var step = Self.step(above: (upper - lower) / Double(max(1, maxTicks - 1)))
        func ticks() -> ClosedRange<Double> {
            rounded
                ? floor(lower / step + 1e-9)...ceil(upper / step - 1e-9)
                : ceil(lower / step - 1e-9)...floor(upper / step + 1e-9)
        }
        if ticks().upperBound - ticks().lowerBound >= Double(maxTicks) {
            step = Self.step(above: step * 1.5)
        }
        let range = ticks()
        let values = (Int(range.lowerBound)...Int(range.upperBound)).map { Double($0) * step }
        return Scale(
            kind: .linear, lower: rounded ? range.lowerBound * step : lower,
            upper: rounded ? range.upperBound * step : upper, ticks: values)
    }

    private static func logarithmic(from lower: Double, to upper: Double, maxTicks: Int) -> Scale {
        let decades = Int(floor(log10(lower) + 1e-9))...Int(ceil(log10(upper) - 1e-9))
        let inside = lower * (1 - 1e-9)...upper * (1 + 1e-9)
        func ticks(_ multiples: [Double], every: Int) -> [Double] {
            var ticks: [Double] = []
            for decade in stride(from: decades.lowerBound, through: decades.upperBound, by: every) {
                let power = pow(10, Double(decade))
                ticks += multiples.map { $0 * power }.filter(inside.contains)
            }
            return ticks
        }
        var found = ticks([1, 2, 5], every: 1)
        var every = 1
        while found.count > max(2, maxTicks), every <= decades.count {
            found = ticks([1], every: every)
            every += 1
        }
        return Scale(kind: .logarithmic, lower: lower, upper: upper, ticks: found)
    }

    private static func range(of values: [Double], on kind: ChartScale) -> (Double, Double)? {
        let placed = values.filter(kind.hasPlace).map { limited($0, kind) }
        guard let smallest = placed.min(), let largest = placed.max() else { return nil }
        return (smallest, largest)
    }

    private static func limited(_ value: Double, _ kind: ChartScale) -> Double {
        switch kind {
        case .linear where abs(value) < limits.smallest: 0
        case .linear: min(max(value, -limits.largest), limits.largest)
        case .logarithmic: min(max(value, limits.smallest), limits.largest)
        }
    }

    private static func power(below value: Double) -> Double { pow(10, floor(log10(value) + 1e-9)) }

    /// Returns the smallest of 1, 2 and 5 times a power of ten that is not below `value`.
    static func step(above value: Double) -> Double {
        let power = power(below: value)
        return [1, 2, 5].map { $0 * power }.first { $0 >= value * (1 - 1e-9) } ?? power * 10
    }

    /// Returns the largest of 1, 2 and 5 times a power of ten that is not above `value`.
    static func step(below value: Double) -> Double {
        let power = power(below: value)
        return [5, 2, 1].map { $0 * power }.first { $0 <= value * (1 + 1e-9) } ?? power
    }
}

/// How an axis places its values.
public enum ChartScale: Sendable, Hashable {
    /// By their difference, beginning at zero.
    case linear
    /// By their ratio. Values of zero or less have no place.
    case logarithmic

    func hasPlace(for value: Double) -> Bool { value.isFinite && (self == .linear || value > 0) }
}

/// The ticks along a horizontal axis: as many as have room for their labels.
struct AxisTicks {
    let scale: Scale?
    let labels: [Label]

    typealias Label = (position: Double, label: String)

    private static let size = 11.5
    private static let gap = 14.0

    /// - Parameter make: Returns a scale of at most so many ticks.
    init(length: Double, unit: ChartUnit, scale make: (Int) -> Scale?) {
        var best: (scale: Scale?, labels: [Label]) = (make(2), [])
        for count in stride(from: 8, through: 2, by: -1) {
            guard let scale = make(count) else { break }
            let texts = unit.labels(of: scale.ticks, on: scale.kind)
            let labels = zip(scale.ticks, texts).compactMap { tick, text in
                scale.position(of: tick).map { (position: $0, label: text) }
            }
            best = (scale, Self.apart(labels, length: length))
            if best.labels.count == labels.count { break }
        }
        (scale, labels) = best
    }

    /// Returns the labels without those that would overlap the one before.
    static func apart(_ labels: [Label], length: Double) -> [Label] {
        var end = -Double.infinity
        return labels.compactMap { position, label in
            let half = label.width(at: size) / 2
            guard position * length - half >= end + gap || end == -.infinity else { return nil }
            end = position * length + half
            return (position, label)
        }
    }
}
