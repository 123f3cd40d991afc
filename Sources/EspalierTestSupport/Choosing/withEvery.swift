/// Runs `body` with every value of `values`. Nested, it walks every combination.
package func withEvery<Values: Sequence>(
    in values: Values, _ body: (Values.Element) throws -> Void
) rethrows {
    for value in values { try body(value) }
}

/// Runs `body` once for every sequence of choices that it can make, and says how many there were.
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

/// Runs `body` with every tree of at most `nodes` models, and says how many there were.
@discardableResult
package func withEverySmallTree(
    upTo nodes: Int, identifiers: SmallTreeIdentifiers = .consistent,
    _ body: (TreeModel) throws -> Void
) rethrows -> Int {
    try withEveryChoice { choices in
        try body(SmallTree.build(&choices, nodes: nodes, identifiers: identifiers))
    }
}
