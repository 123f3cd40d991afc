/// A pattern that matches the whole of an identifier: `User:*`.
///
///     *       any run of characters, the empty one too
///     ?       one character
///     [a-z_]  one of these; [!a-z_] one that is none of these
///     \*      the character behind the backslash itself
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

    let pieces: [Piece]

    /// What every match begins with.
    let literalPrefix: String

    /// Whether the prefix is all there is.
    let isLiteral: Bool

    init(pieces: [Piece]) {
        self.pieces = pieces
        var prefix = String.UnicodeScalarView()
        for case .scalar(let scalar) in pieces.prefix(while: \.isScalar) { prefix.append(scalar) }
        literalPrefix = String(prefix)
        isLiteral = pieces.allSatisfy(\.isScalar)
    }

    /// Takes at most as many steps as text and pattern have characters, multiplied: when the pieces
    /// behind a `*` fail, only the last `*` is tried again one character further on, for an earlier
    /// one could not do better.
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
