/// SplitMix64: the same random numbers for the same seed.
struct Random: RandomNumberGenerator {
    private var state: UInt64

    /// Seeds that follow one another give unrelated numbers.
    init(seed: Int, _ purpose: UInt64 = 0) {
        state = UInt64(bitPattern: Int64(seed)) &* 0xD134_2543_DE82_EF95 &+ purpose
        for _ in 0..<3 { _ = next() }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }

    mutating func happens(_ share: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < share
    }

    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[below(choices.count)] }
}
