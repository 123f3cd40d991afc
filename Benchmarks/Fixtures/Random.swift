import Foundation

/// Draws the same numbers in every run that begins with the same state.
///
/// Source: Sebastiano Vigna's SplitMix64 (<https://prng.di.unimi.it/splitmix64.c>).
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(state: UInt64) { self.state = state }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Draws ranks by Zipf's law: rank k with a probability proportional to 1 / k^exponent.
public struct ZipfTable: Sendable {
    private let sums: [Double]

    public init(count: Int, exponent: Double = 0.99) {
        var sum = 0.0
        sums = (1...count).map { rank in
            sum += 1 / pow(Double(rank), exponent)
            return sum
        }
    }

    /// Returns a rank from 0, which is the likeliest.
    ///
    /// - Complexity: O(log *count*).
    public func draw(_ random: inout SplitMix64) -> Int {
        guard let total = sums.last else { return 0 }
        let target = Double(random.next() >> 11) / Double(1 << 53) * total
        var range = 0..<sums.count - 1
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range =
                sums[middle] < target ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
