import Foundation

/// Draws ranks by Zipf's law: rank k with a probability proportional to 1 / k^exponent.
struct ZipfTable {
    private let sums: [Double]

    init(count: Int, exponent: Double) {
        var sum = 0.0
        sums = (1...count).map { rank in
            sum += 1 / pow(Double(rank), exponent)
            return sum
        }
    }

    /// From 0, which is the likeliest.
    func draw(_ random: inout SplitMix64) -> Int {
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
