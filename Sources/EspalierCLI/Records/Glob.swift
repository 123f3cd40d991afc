#if CommandLine
/// A pattern that matches whole identifiers: `User:*`.
///
///     *       any run of characters, even an empty one
///     ?       one character
///     [a-z_]  one of these; [!a-z_] one of the others
///     \*      the character after the backslash
///
/// A character is a Unicode scalar, as in a shell: `?` matches "é", but only half of "e" with a
/// combining accent. Nothing is normalized, because identifiers that differ in bytes are two.
struct Glob: Sendable, Equatable {
    enum Piece: Sendable, Equatable {
        case scalar(Unicode.Scalar)
        case one
        case many
        case oneOf([ClosedRange<Unicode.Scalar>], isNegated: Bool)
    }

    private(set) var pieces: [Piece] = []

    /// The literal text with which every match begins.
    var literalPrefix: String {
        var prefix = ""
        for case .scalar(let scalar) in pieces.prefix(while: \.isScalar) {
            prefix.unicodeScalars.append(scalar)
        }
        return prefix
    }

    /// Whether the pattern is literal text only.
    var isLiteral: Bool { pieces.allSatisfy(\.isScalar) }

    /// Returns whether the whole of `text` matches.
    ///
    /// When the pieces after a `*` fail, only the last `*` is tried again, one character further
    /// on: an earlier one could not do better.
    ///
    /// - Complexity: O(*n* · *m*), for the lengths of the text and of the pattern.
    func matches(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        var position = scalars.startIndex
        var piece = 0
        var retry: (piece: Int, position: String.Index)?
        while position < scalars.endIndex {
            if piece < pieces.count, pieces[piece] == .many {
                piece += 1
                retry = (piece, position)
            } else if piece < pieces.count, pieces[piece].matches(scalars[position]) {
                piece += 1
                position = scalars.index(after: position)
            } else {
                guard let last = retry else { return false }
                piece = last.piece
                position = scalars.index(after: last.position)
                retry = (piece, position)
            }
        }
        return pieces[piece...].allSatisfy { $0 == .many }
    }
}

extension Glob.Piece {
    fileprivate var isScalar: Bool {
        if case .scalar = self { true } else { false }
    }

    fileprivate func matches(_ scalar: Unicode.Scalar) -> Bool {
        switch self {
        case .scalar(let own): own == scalar
        case .one: true
        case .many: false
        case .oneOf(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
        }
    }
}

extension Glob {
    init(parsing pattern: String) throws(ArgumentProblem) {
        guard !pattern.isEmpty else {
            throw ArgumentProblem("a pattern must not be empty; * matches everything")
        }
        var rest = Substring.UnicodeScalarView(pattern.unicodeScalars)
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": pieces.append(.many)
            case "?": pieces.append(.one)
            case "[": pieces.append(try Self.set(from: &rest))
            case "\\": pieces.append(.scalar(try Self.escaped(from: &rest)))
            default: pieces.append(.scalar(scalar))
            }
        }
    }

    private static func escaped(
        from rest: inout Substring.UnicodeScalarView
    ) throws(ArgumentProblem) -> Unicode.Scalar {
        guard let scalar = rest.popFirst() else {
            throw ArgumentProblem(
                #"a pattern must not end in a single \; \\ matches a backslash"#)
        }
        return scalar
    }

    /// Parses a set. A `]` in first place, and a `-` in first or last place, are literal.
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
                    "a range in a pattern must ascend, as in [a-z]; [\(lower)-\(upper)] descends")
            }
            ranges.append(lower...upper)
        }
        throw ArgumentProblem(#"a [ in a pattern needs a closing ]; \[ matches a bracket"#)
    }
}
#endif
