/// SplitMix64: random numbers that a seed gives again.
///
/// Prints its seed when made, so that the log of a failed run says how to repeat it.
///
/// Example: `var random = SeededGenerator(seed: 7)`.
package struct SeededGenerator: RandomNumberGenerator, Sendable, CustomStringConvertible {
    package let seed: UInt64
    private var state: UInt64

    package init(seed: UInt64) {
        self.init(quietly: seed)
        print("seed \(seed)")
    }

    /// For generators made by the thousand from another one's numbers.
    package init(quietly seed: UInt64) {
        self.seed = seed
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// True with probability `share`.
    package mutating func happens(_ share: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < share
    }

    package var description: String { "seed \(seed)" }
}
