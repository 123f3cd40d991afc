#if CommandLine
import EspalierStore
import Foundation

/// Prints results on standard output and everything else on standard error.
enum Console {
    /// Prints a result and a newline.
    ///
    /// - Throws: `CommandFailure` if it cannot be written, because a full disk must not look like
    ///   success; `OutputClosed` if the reader of a pipe has gone.
    static func print(_ text: String) throws {
        try write(Array((text + "\n").utf8))
    }

    /// Prints JSON, without characters that a terminal would obey if the output is one.
    static func print(_ value: JSONValue, style: JSONWriter.Style = .pretty) throws {
        let writer = JSONWriter(style: style, escapesUnprintable: Terminal.isOutput)
        try write(writer.bytes(from: value) + [UInt8(ascii: "\n")])
    }

    /// Prints a part of a line, without a newline.
    static func write(_ text: String) throws { try write(Array(text.utf8)) }

    static func write(_ bytes: [UInt8]) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        } catch  where InputFile.systemError(error).code == EPIPE {
            throw OutputClosed()
        } catch {
            throw CommandFailure("standard output cannot be written: \(InputFile.reason(error))")
        }
    }

    /// Prints a remark that is not an error on standard error.
    static func note(_ text: String) { error("note: \(text)") }

    /// Tells whether the cache evicted records to make room for a command.
    static func noteEvictions(_ count: Int) {
        guard count > 0 else { return }
        note("\(count) records were evicted to make room. espalier budget raises the limit.")
    }

    /// Tells each time the cache begins anew, until it is closed.
    ///
    /// - Returns: A task that ends when the cache is closed. It reads the events while they come,
    ///   because the sequence only keeps the latest, and a large import evicts many records.
    static func noteReplacements(in cache: NormalizedCache) -> Task<Void, Never> {
        let events = cache.events()
        return Task.detached {
            for await case .generationReplaced(let reason) in events {
                note("the cache began anew, and what it held is gone. Reason: \(reason).")
            }
        }
    }

    /// Writes to standard error without a newline and without a prefix, to draw on a terminal.
    static func draw(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Prints an error as one line on standard error, with control characters made visible.
    static func error(_ text: String) {
        let text =
            "espalier: "
            + text.split(whereSeparator: \.isNewline).joined(separator: " ").withVisibleControls
            + "\n"
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

/// Returns a number with what it counts: `1 record`, `2 records`.
func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    count == 1 ? "1 \(one)" : "\(count) \(many ?? one + "s")"
}

/// The options that say how a result is printed. Commands differ in the default format.
protocol OutputChoice: Sendable {
    var format: Format { get }
    var color: ColorChoice { get }
}

extension OutputChoice {
    var palette: Palette { color.palette(isTerminal: Terminal.isOutput) }

    func print(_ result: some Printable) throws { try print(result, as: format) }

    func print(_ result: some Printable, as format: Format) throws {
        switch format {
        case .table:
            try Console.print(result.shown.table.text(width: Terminal.width, palette: palette))
        case .json: try Console.print(result.json)
        case .csv: try Console.print(result.report.csv(forTerminal: Terminal.isOutput))
        }
    }
}

/// The format of a result: a table for a person, JSON or CSV for a program.
enum Format: String, Sendable, CaseIterable {
    case table
    case json
    case csv
}
#endif
