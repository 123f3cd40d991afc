extension Glob {
    init(parsing pattern: String) throws(ArgumentProblem) {
        guard !pattern.isEmpty else {
            throw ArgumentProblem("a pattern is not empty; * matches everything")
        }
        var rest = Substring.UnicodeScalarView(pattern.unicodeScalars)
        var pieces: [Piece] = []
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": pieces.append(.many)
            case "?": pieces.append(.one)
            case "[": pieces.append(try Self.set(from: &rest))
            case "\\": pieces.append(.scalar(try Self.escaped(from: &rest)))
            default: pieces.append(.scalar(scalar))
            }
        }
        self.init(pieces: pieces)
    }

    private static func escaped(
        from rest: inout Substring.UnicodeScalarView
    ) throws(ArgumentProblem) -> Unicode.Scalar {
        guard let scalar = rest.popFirst() else {
            throw ArgumentProblem(
                #"a pattern ends in a \ with nothing behind it; \\ is the character itself"#)
        }
        return scalar
    }

    /// A `]` that comes first, and a `-` that comes first or last, stand for themselves.
    private static func set(from rest: inout Substring.UnicodeScalarView) throws(ArgumentProblem)
        -> Piece
    {
        let isNegated = rest.first == "!"
        if isNegated { rest.removeFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while let scalar = rest.popFirst() {
            if scalar == "]", !ranges.isEmpty { return .oneOf(ranges, isNegated: isNegated) }
            let lower = scalar == "\\" ? try escaped(from: &rest) : scalar
            guard rest.first == "-", rest.dropFirst().first.map({ $0 != "]" }) ?? false else {
                ranges.append(lower...lower)
                continue
            }
            rest.removeFirst()
            let end = rest.removeFirst()
            let upper = end == "\\" ? try escaped(from: &rest) : end
            guard lower <= upper else {
                throw ArgumentProblem(
                    "a range in a pattern goes up, as in [a-z], and [\(lower)-\(upper)] goes down")
            }
            ranges.append(lower...upper)
        }
        throw ArgumentProblem(#"a [ in a pattern needs its ]; \[ is the character itself"#)
    }
}
