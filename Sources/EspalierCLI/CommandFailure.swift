#if CommandLine
/// An error that ends a command, with the one line that its user reads and the exit code.
struct CommandFailure: Error, Equatable {
    let kind: Kind
    let message: String

    enum Kind: Int32 {
        /// The command failed.
        case failure = 1
        /// The cache does not have the record asked for, or a check found a problem.
        case miss = 2
    }

    init(_ message: String, kind: Kind = .failure) {
        self.message = message
        self.kind = kind
    }
}

extension CommandFailure {
    /// Calls `body`. Throws a failure that names `file` if the system reports an error.
    static func naming<R>(_ file: String, _ body: () throws -> R) throws(CommandFailure) -> R {
        do {
            return try body()
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("\(file): \(InputFile.reason(error))")
        }
    }
}

/// An argument of the command line that cannot be parsed.
struct ArgumentProblem: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The reader of standard output has closed the pipe, as `| head` does after its last line. The
/// process ends without a message.
struct OutputClosed: Error {
    /// The exit code that a shell reports for a process that SIGPIPE ended. The tool ignores the
    /// signal, and ends with this code.
    static let code: Int32 = 128 + 13
}
#endif
