import Foundation

/// Sebastiano Vigna's SplitMix64.
package struct SplitMix64: RandomNumberGenerator {
    package var state: UInt64

    package init(state: UInt64) { self.state = state }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Draws ranks by Zipf's law: rank k with a probability proportional to 1 / k^exponent.
package struct ZipfTable {
    private let sums: [Double]

    package init(count: Int, exponent: Double = 0.99) {
        var sum = 0.0
        sums = (1...count).map { rank in
            sum += 1 / pow(Double(rank), exponent)
            return sum
        }
    }

    /// From 0, which is the likeliest.
    package func draw(_ random: inout SplitMix64) -> Int {
        let target = Double(random.next() >> 11) / Double(1 << 53) * sums[sums.count - 1]
        var range = 0..<sums.count - 1
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range =
                sums[middle] < target ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
