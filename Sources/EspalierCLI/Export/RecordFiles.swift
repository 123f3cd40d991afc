#if CommandLine
import EspalierStore
import Foundation

/// The files of an import, which are read twice: first from the files, then from a spool. The
/// import so stores the lines that it checked, even if a file changes or is a pipe. Confined to one
/// thread.
final class RecordFiles {
    private static let chunkSize = 1 << 18

    private let spool = Spool()
    /// The sizes of the files in the spool, in order.
    private var sections: [(name: String, size: Int)] = []

    /// Reads a file to its end and visits its records.
    func add(
        _ input: InputFile, _ body: (RestoredRecord, LinePlace) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let file = try CommandFailure.naming(input.name, input.open)
        defer { input.close(file) }
        var size = 0
        var lines = RecordLines(
            file: input.name,
            LineReader { [spool] () throws(CommandFailure) in
                let part = try CommandFailure.naming(input.name) {
                    [UInt8](try file.read(upToCount: Self.chunkSize) ?? Data())
                }
                try spool.append(part)
                size += part.count
                return part.isEmpty ? nil : part
            })
        while let (record, place) = try lines.next() { try body(record, place) }
        sections.append((input.name, size))
    }

    /// Returns the records of all files from the spool. Each must be read to its end before the
    /// next.
    func readAgain() throws(CommandFailure) -> [RecordLines] {
        let chunks = try spool.chunks()
        var chunk: ArraySlice<UInt8> = []
        return sections.map { name, size in
            var rest = size
            return RecordLines(
                file: name,
                LineReader { () throws(CommandFailure) in
                    guard rest > 0 else { return nil }
                    if chunk.isEmpty { chunk = try chunks()?[...] ?? [] }
                    let part = chunk.prefix(rest)
                    chunk = chunk.dropFirst(rest)
                    rest -= part.count
                    return part.isEmpty ? nil : Array(part)
                })
        }
    }
}

/// The records of an export, one after another.
struct RecordLines {
    private let file: String
    private var lines: LineReader
    private var decoder = RecordLineDecoder()

    init(file: String, _ lines: LineReader) {
        self.file = file
        self.lines = lines
    }

    /// Returns the next record and its place, or nil at the end. Throws for an invalid line.
    mutating func next() throws(CommandFailure) -> (record: RestoredRecord, place: LinePlace)? {
        guard let line = try lines.line() else { return nil }
        let place = LinePlace(file: file, line: lines.number)
        do {
            let json = try JSONParser.parse(
                line, maximumDepth: ValueNotation.maximumJSONDepth, allowsDuplicateNames: false)
            return (try decoder.record(RecordLine(json)), place)
        } catch var error as JSONParseError {
            error.line = place.line
            // The first line of a document is usually not JSON by itself. That of an export which
            // was cut off is not, either.
            let isDocument =
                place.line == 1 && error.problem != .duplicateName
                && !line.starts(with: #"{"kind":"#.utf8)
            throw CommandFailure(
                """
                \(file): \
                \(error)\(isDocument ? ". To import a document, leave out --records" : "")
                """
            )
        } catch {
            throw CommandFailure("\(place): \(error)")
        }
    }
}

/// A line of a file, for messages.
struct LinePlace: Sendable, CustomStringConvertible {
    let file: String
    let line: Int

    var description: String { "\(file): line \(line)" }

    /// Returns the name of the range from this line to `last`.
    func through(_ last: LinePlace) -> String {
        guard last.file == file else { return "\(self) to \(last)" }
        return last.line == line ? description : "\(self) to line \(last.line)"
    }
}

/// Splits bytes that arrive in parts into lines.
struct LineReader {
    private let next: () throws(CommandFailure) -> [UInt8]?
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// The number of the line read last, from 1.
    private(set) var number = 0

    init(_ next: @escaping () throws(CommandFailure) -> [UInt8]?) { self.next = next }

    /// Returns the next line that is not blank, without its newline, or nil at the end.
    mutating func line() throws(CommandFailure) -> [UInt8]? {
        while let line = try anyLine() {
            number += 1
            if !line.allSatisfy(\.isBlank) { return line }
        }
        return nil
    }

    private mutating func anyLine() throws(CommandFailure) -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return Array(buffer[start..<end])
            }
            searched = buffer.count - start
            buffer.removeFirst(start)
            start = 0
            guard !isAtEnd, let more = try next() else {
                isAtEnd = true
                defer { buffer = [] }
                return buffer.isEmpty ? nil : buffer
            }
            buffer += more
        }
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\r")
    }
}

/// The reason why a line is not a record of an export.
struct LineProblem: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }

    /// Returns the problem with the part of the line that has it.
    func at(_ place: String) -> LineProblem { LineProblem("\(place): \(description)") }
}
#endif
