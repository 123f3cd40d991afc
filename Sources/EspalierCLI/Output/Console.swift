import ArgumentParser
import Foundation

/// Standard output for results, standard error for everything else.
enum Console {
    /// Prints a result and a newline. Throws when it can't be written: a full disk must not look
    /// like success.
    static func print(_ text: String) throws {
        try write(Array((text + "\n").utf8))
    }

    static func print(_ value: JSONValue, style: JSONWriter.Style = .pretty) throws {
        try write(JSONWriter(style: style).bytes(from: value) + [UInt8(ascii: "\n")])
    }

    /// Prints a part of a line.
    static func write(_ text: String) throws { try write(Array(text.utf8)) }

    static func write(_ bytes: [UInt8]) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        } catch  where InputFile.systemError(error).code == EPIPE {
            throw OutputClosed()
        } catch {
            throw CommandFailure("standard output can't be written: \(InputFile.reason(error))")
        }
    }

    /// Something to know that is no error.
    static func note(_ text: String) { line("note: \(text)") }

    /// Draws on the terminal that standard error is: no newline, no prefix.
    static func draw(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// One line on standard error.
    private static func line(_ text: String) {
        let text =
            "espalier: "
            + text.split(whereSeparator: \.isNewline).joined(separator: " ").withVisibleControls
            + "\n"
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Says what went wrong, and ends the process with the code for it.
    static func exit(with error: any Error) -> Never {
        if let failure = error as? CommandFailure {
            line(failure.message)
            Foundation.exit(failure.kind.rawValue)
        }
        if error is OutputClosed { Foundation.exit(OutputClosed.code) }
        let code = Espalier.exitCode(for: error)
        // Help and the version arrive as errors too, and belong on standard output.
        guard !code.isSuccess else { Espalier.exit(withError: error) }
        line(Espalier.message(for: error))
        Foundation.exit(code.rawValue)
    }
}
