// What users' initialisers see: mismatches as the `DecodingError`s that lenient ones expect, with
// the failure inside; absence and damage as failures that nobody should make up for.
extension DecodingFrame {
    /// `error` as it leaves a container that was asked for the value under `key`.
    func thrown(_ error: any Error, at key: BridgeKey?, as type: Any.Type) -> any Error {
        switch error {
        case is ReadFailure, is FormatError:
            let failure = insideNested(ReadFailure(error))
            return failure.decodingError(codingPath + (key.map { [$0] } ?? []), type) ?? failure
        case let error as DecodingError where isNested:
            guard let failure = error.context.underlyingError as? ReadFailure else { return error }
            return error.with(failure: insideNested(failure))
        default:
            return error
        }
    }

    /// The failure with the keys of nested containers up to the value they are in: a user's
    /// initialiser opened them, so nobody on the way up knows of them.
    private func insideNested(_ failure: ReadFailure) -> ReadFailure {
        var failure = failure
        var frame = self
        while frame.isNested, let key = frame.key, let parent = frame.parent {
            failure =
                key.intValue.map(failure.inside(element:)) ?? failure.inside(field: key.stringValue)
            frame = parent
        }
        return failure
    }

    /// `error` as it leaves the value's initialiser. One thrown by the initialiser itself is placed
    /// by its `codingPath`.
    func located(_ error: any Error) -> any Error {
        guard let error = error as? DecodingError, !(error.context.underlyingError is ReadFailure)
        else {
            return error
        }
        let failure = error.context.codingPath.dropFirst(codingPath.count).reversed()
            .reduce(ReadFailure(error)) { failure, key in
                if let index = key.intValue {
                    failure.inside(element: index)
                } else {
                    failure.inside(field: key.stringValue)
                }
            }
        return error.with(failure: failure)
    }

    func mismatch(_ expected: String, _ type: Any.Type, _ values: borrowing ValueDecoder)
        -> any Error
    {
        thrown(values.mismatch(expected), at: nil, as: type)
    }

    func closed() -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription: isOpen
                    ? "the value is not of this kind"
                    : "the value was decoded already; its decoder can't be kept"))
    }

    func missing(_ type: Any.Type) -> DecodingError {
        .valueNotFound(
            type,
            DecodingError.Context(codingPath: codingPath, debugDescription: "there is no value"))
    }
}

extension ReadFailure {
    /// A mismatch as a `DecodingError`; nil for any other failure.
    fileprivate func decodingError(_ path: [any CodingKey], _ type: Any.Type) -> DecodingError? {
        guard !isFinal else { return nil }
        switch cause {
        case .missing:
            guard let key = path.last else { return nil }
            let context = DecodingError.Context(
                codingPath: path.dropLast(), debugDescription: "the record lacks this field",
                underlyingError: self)
            return .keyNotFound(key, context)
        case .undecodable(let detail):
            let context = DecodingError.Context(
                codingPath: path, debugDescription: detail, underlyingError: self)
            return .typeMismatch(type, context)
        default: return nil
        }
    }
}

extension DecodingError {
    var context: Context {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: Context(codingPath: [], debugDescription: "\(self)")
        }
    }

    func with(failure: ReadFailure) -> DecodingError {
        let context = Context(
            codingPath: context.codingPath, debugDescription: context.debugDescription,
            underlyingError: failure)
        return switch self {
        case .typeMismatch(let type, _): .typeMismatch(type, context)
        case .valueNotFound(let type, _): .valueNotFound(type, context)
        case .keyNotFound(let key, _): .keyNotFound(key, context)
        case .dataCorrupted: .dataCorrupted(context)
        @unknown default: .dataCorrupted(context)
        }
    }
}
