/// What two records say differently, and where.
struct FieldDifference: Sendable, Equatable {
    /// What one of them says.
    enum Side: Sendable, Equatable {
        case nothing
        case value(JSONValue)
        /// Some elements of an array.
        case elements([JSONValue])
    }

    /// A path as in `entities.media[0].url`, a run of elements as in `media[3-5]`, or what is no
    /// field: `$types`.
    let path: String
    let a: Side
    let b: Side
}

extension FieldDifference.Side {
    /// Of more elements a person sees the first ones and how many there are.
    private static let shownElements = 3

    var cell: Cell {
        switch self {
        case .nothing: return .nothing
        case .value(let value): return .text(JSONWriter().string(from: value))
        case .elements(let elements):
            let shown = elements.prefix(Self.shownElements).map(JSONWriter().string(from:)).joined(
                separator: ", ")
            let rest = elements.count - Self.shownElements
            return .text(rest > 0 ? "\(shown) and \(rest) more" : shown)
        }
    }

    /// Nil for nothing, which is not null.
    var json: JSONValue? {
        switch self {
        case .nothing: nil
        case .value(let value): value
        case .elements(let elements): .array(elements)
        }
    }
}
