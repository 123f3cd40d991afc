/// A sequence of choices that can be stepped through every possibility, like the wheels of an
/// odometer.
///
/// The possibilities may depend on earlier choices, so everything that a program builds by choosing
/// can be built exhaustively.
package struct Choices {
    private struct Wheel {
        var choice: Int
        let count: Int
    }

    private var wheels: [Wheel] = []
    private var position = 0

    package init() {}

    /// Returns one of `0..<count`.
    package mutating func choose(_ count: Int) -> Int {
        precondition(count > 0, "nothing to choose from")
        defer { position += 1 }
        if position < wheels.count { return wheels[position].choice }
        wheels.append(Wheel(choice: 0, count: count))
        return 0
    }

    package mutating func chooseBool() -> Bool { choose(2) == 1 }

    /// Moves on to the next sequence. Returns false after the last.
    mutating func advance() -> Bool {
        position = 0
        while let last = wheels.popLast() {
            if last.choice + 1 < last.count {
                wheels.append(Wheel(choice: last.choice + 1, count: last.count))
                return true
            }
        }
        return false
    }
}

/// SplitMix64: random numbers that a seed repeats.
///
/// ```swift
/// var random = SeededGenerator(seed: 7)
/// ```
///
/// The generator prints its seed when it is made, so that the log of a failed run says how to
/// repeat the run.
package struct SeededGenerator: RandomNumberGenerator, Sendable, CustomStringConvertible {
    package let seed: UInt64
    private var state: UInt64

    package init(seed: UInt64) {
        self.init(quietly: seed)
        print("seed \(seed)")
    }

    /// Makes a generator without printing its seed: one of thousands, from another one's numbers.
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

    /// Returns true with the probability `share`.
    package mutating func happens(_ share: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < share
    }

    package var description: String { "seed \(seed)" }
}

/// Runs `body` with every value of `values`. Nested calls walk every combination.
package func withEvery<Values: Sequence>(
    in values: Values, _ body: (Values.Element) throws -> Void
) rethrows {
    for value in values { try body(value) }
}

/// Runs `body` once for every sequence of choices that it can make. Returns their number.
@discardableResult
package func withEveryChoice(_ body: (inout Choices) throws -> Void) rethrows -> Int {
    var choices = Choices()
    var count = 0
    repeat {
        try body(&choices)
        count += 1
    } while choices.advance()
    return count
}
