/// The type of the objects that stand under a property: `user=User`.
struct TypeMapping: Sendable, Equatable {
    let property: String
    let type: String

    init(property: String, type: String) {
        self.property = property
        self.type = type
    }

    init(parsing text: String) throws(ArgumentProblem) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else {
            throw ArgumentProblem("a type is given as PROPERTY=TYPE, as in user=User")
        }
        self.init(property: String(parts[0]), type: String(parts[1]))
    }
}
