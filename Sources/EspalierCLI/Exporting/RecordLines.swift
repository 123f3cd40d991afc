import EspalierStore

/// The records of an export, one after the other.
struct RecordLines {
    private let file: String
    private var lines: LineReader
    private var decoder = RecordLineDecoder()

    init(file: String, _ lines: LineReader) {
        self.file = file
        self.lines = lines
    }

    /// The next record and where it stands; nil behind the last. Throws for a line that is none.
    mutating func next() throws(CommandFailure) -> (record: RestoredRecord, place: LinePlace)? {
        guard let line = try lines.line() else { return nil }
        let place = LinePlace(file: file, line: lines.number)
        do {
            let json = try JSONParser.parse(
                line, maximumDepth: ValueNotation.maximumJSONDepth, allowsDuplicateNames: false)
            return (try decoder.record(RecordLine(json)), place)
        } catch var error as JSONParseError {
            error.line = place.line
            // Most documents are several lines, of which the first is no JSON by itself.
            let isDocument = place.line == 1 && error.problem != .duplicateName
            throw CommandFailure(
                "\(file): \(error)\(isDocument ? ". Is it a document? Leave --records out" : "")")
        } catch {
            throw CommandFailure("\(place): \(error)")
        }
    }
}

/// A line of a file, as messages call it.
struct LinePlace: Sendable, CustomStringConvertible {
    let file: String
    let line: Int

    var description: String { "\(file): line \(line)" }

    /// All from this line to another.
    func through(_ last: LinePlace) -> String {
        guard last.file == file else { return "\(self) to \(last)" }
        return last.line == line ? description : "\(self) to line \(last.line)"
    }
}
