/// The answer that `ask` completes with, for whoever awaits it: an error is thrown where there is
/// nothing but an error.
@MainActor
func awaitAnswer<Value: Sendable>(
    _ ask: (@escaping @MainActor (Value?, (any Error)?) -> Void) -> Void
) async throws -> Value? {
    try await withCheckedThrowingContinuation { continuation in
        ask { value, error in
            if let error, value == nil {
                continuation.resume(throwing: error)
            } else {
                continuation.resume(returning: value)
            }
        }
    }
}
