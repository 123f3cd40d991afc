/// One go of calls on the main actor: what is to be told once for all of them is told at the end.
@MainActor
package enum DeliveryRound {
    private static var depth = 0
    private static var endings: [(key: ObjectIdentifier, body: @MainActor () -> Void)] = []

    package static func run(_ body: () -> Void) {
        depth += 1
        body()
        depth -= 1
        guard depth == 0 else { return }
        while !endings.isEmpty { endings.removeFirst().body() }
    }

    /// Runs `body` at the end of the round, once for each object; at once outside of rounds.
    package static func atEnd(for object: AnyObject, _ body: @escaping @MainActor () -> Void) {
        guard depth > 0 else { return body() }
        let key = ObjectIdentifier(object)
        if !endings.contains(where: { $0.key == key }) { endings.append((key, body)) }
    }
}
