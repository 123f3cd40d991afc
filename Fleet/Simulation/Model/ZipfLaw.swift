import Foundation

/// SplitMix64 (Steele et al., 2014): the same numbers for the same seed, on every machine.
public struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator.
    ///
    /// - Parameter seed: Generators of one seed return the same numbers.
    public init(seed: UInt64) { state = seed }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    /// Returns a number of at least 0 and less than 1.
    mutating func share() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Returns a time between two events of a Poisson process, in nanoseconds.
    mutating func interval(perSecond rate: Double) -> Int {
        Int(-log(1 - share()) / rate * 1e9) + 1
    }

    static func mix(_ number: UInt64) -> UInt64 {
        var value = number
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// Draws ranks from 1 to `count`, rank *k* with a probability in proportion to *k* to the power of
/// minus `exponent`.
///
/// Rejection-inversion (Hörmann and Derflinger, 1996) needs no table: 10^9 ranks take as much time
/// and memory as 10.
public struct ZipfLaw: Sendable {
    /// The number of ranks.
    public let count: Int
    /// How uneven the ranks are; 0 for even ones.
    public let exponent: Double
    private let first: Double
    private let last: Double
    private let acceptance: Double

    /// Makes a law.
    ///
    /// - Parameters:
    ///   - count: The number of ranks, at least 1.
    ///   - exponent: How uneven the ranks are, at least 0.
    public init(count: Int, exponent: Double) {
        self.count = count
        self.exponent = exponent
        first = Self.integral(1.5, exponent) - 1
        last = Self.integral(Double(count) + 0.5, exponent)
        acceptance =
            2 - Self.inverse(Self.integral(2.5, exponent) - pow(2, -exponent), exponent)
    }

    /// Draws a rank.
    ///
    /// - Parameter numbers: Where chance comes from.
    /// - Returns: A rank from 1 to `count`.
    public func sample(_ numbers: inout SeededNumbers) -> Int {
        while true {
            let area = last + numbers.share() * (first - last)
            let place = Self.inverse(area, exponent)
            let rank = min(max(Int(place + 0.5), 1), count)
            let middle = Double(rank)
            if middle - place <= acceptance
                || area >= Self.integral(middle + 0.5, exponent) - pow(middle, -exponent)
            {
                return rank
            }
        }
    }

    /// Returns the integral of x to the power of minus `exponent`, apart from a constant.
    private static func integral(_ x: Double, _ exponent: Double) -> Double {
        let logarithm = log(x)
        let power = (1 - exponent) * logarithm
        return (abs(power) > 1e-8 ? expm1(power) / power : 1 + power / 2) * logarithm
    }

    private static func inverse(_ area: Double, _ exponent: Double) -> Double {
        let power = max(area * (1 - exponent), -1)
        return exp((abs(power) > 1e-8 ? log1p(power) / power : 1 - power / 2) * area)
    }

    /// Returns the probability of a rank.
    func probability(of rank: Double) -> Double { pow(rank, -exponent) / (last - first) }

    /// Returns the hit rate of an LRU cache in the steady state, by the approximation of Che et al.
    /// (2002).
    ///
    /// A record that is read with the rate r is in the cache with a probability of 1 - exp(-r t),
    /// where t is the time that a record stays. If it changes with the rate c, and an outdated copy
    /// keeps its place, a read hits with a probability of r / (r + c) (1 - exp(-(r + c) t)).
    ///
    /// - Parameters:
    ///   - capacity: The number of records in the cache.
    ///   - changes: The law of changes, and their number for each read of this cache; nil for none.
    public func hitRate(
        ofCapacity capacity: Int, changes: (law: ZipfLaw, perRead: Double)? = nil
    ) -> Double {
        // Ranks above 100 count in groups whose members differ by at most 1 %.
        var groups: [(reads: Double, changes: Double, size: Double)] = []
        var rank = 1
        while rank <= count {
            let size = min(max(1, rank / 100), count - rank + 1)
            let middle = Double(rank) + Double(size - 1) / 2
            let change = changes.map { $0.law.probability(of: middle) * $0.perRead } ?? 0
            groups.append((probability(of: middle), change, Double(size)))
            rank += size
        }
        func held(_ time: Double) -> Double {
            groups.reduce(0) { $0 - expm1(-$1.reads * time) * $1.size }
        }
        var (low, high) = (0.0, 1.0)
        while held(high) < Double(min(capacity, count - 1)) { high *= 2 }
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if held(middle) < Double(capacity) { low = middle } else { high = middle }
        }
        let time = capacity < count ? high : .infinity
        return groups.reduce(0) { sum, group in
            let rate = group.reads + group.changes
            return sum - expm1(-rate * time) * group.reads * group.reads / rate * group.size
        }
    }
}
