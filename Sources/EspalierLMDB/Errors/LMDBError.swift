/// Why LMDB, or the file system below it, did not do what was asked.
///
/// ```swift
/// do {
///     try transaction.put(nodes, handle, bytes)
/// } catch where error.code == .mapFull {
///     // abort, evict, try again
/// }
/// ```
///
/// Threading: a value, `Sendable`. Cost: making one allocates nothing; `description` does. Errors:
/// a miss is never an error, it is `nil` or `false`; misuse by the programmer traps instead.
/// Messages hold no keys, no values and no paths, so they may be logged anywhere.
public struct LMDBError: Error, Sendable, Equatable {
    /// What went wrong; decide on this.
    public let code: Code
    /// What was being done.
    public let operation: Operation
    let file: StaticString
    let line: UInt

    init(_ code: Code, _ operation: Operation, file: StaticString = #fileID, line: UInt = #line) {
        self.code = code
        self.operation = operation
        self.file = file
        self.line = line
    }

    /// Where in this module the error was raised: `EspalierLMDB/GuardFile.swift:31`.
    public var location: String { "\(file):\(line)" }

    /// Two errors are equal when code and operation are; the place they came from does not count.
    public static func == (a: LMDBError, b: LMDBError) -> Bool {
        a.code == b.code && a.operation == b.operation
    }
}

extension LMDBError: CustomStringConvertible {
    public var description: String { "\(operation.rawValue): \(message) [\(location)]" }
}
