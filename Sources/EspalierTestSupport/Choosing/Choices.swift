/// A sequence of choices that can be stepped through every possibility, like the wheels of an
/// odometer.
///
/// What is chosen from may depend on what was chosen before, so whatever a program can build by
/// choosing can be built exhaustively.
package struct Choices {
    private struct Wheel {
        var choice: Int
        let count: Int
    }

    private var wheels: [Wheel] = []
    private var position = 0

    package init() {}

    /// One of `0..<count`.
    package mutating func choose(_ count: Int) -> Int {
        precondition(count > 0, "nothing to choose from")
        defer { position += 1 }
        if position < wheels.count { return wheels[position].choice }
        wheels.append(Wheel(choice: 0, count: count))
        return 0
    }

    package mutating func chooseBool() -> Bool { choose(2) == 1 }

    /// Moves on to the next sequence; false after the last.
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
