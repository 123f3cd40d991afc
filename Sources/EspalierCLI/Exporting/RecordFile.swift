import EspalierStore
import Foundation

/// An export as it is read: more than once, a line at a time.
final class RecordFile {
    let name: String
    private let source: Source

    private enum Source {
        case file(FileHandle)
        /// What can't be read again is put aside.
        case spool(Spool)
    }

    init(_ input: InputFile) throws(CommandFailure) {
        name = input.name
        do {
            let file =
                input.isStandardInput
                ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: input.path))
            guard input.isStandardInput || (try? file.seekToEnd()) == nil else {
                source = .file(file)
                return
            }
            let spool = Spool()
            while let data = try file.read(upToCount: Self.chunkSize), !data.isEmpty { try spool.append([UInt8](data)) }
            source = .spool(spool)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("\(input.name): \(InputFile.reason(error))")
        }
    }

    private static let chunkSize = 1 << 18

    /// Its records, from the first line on.
    func records() throws(CommandFailure) -> Records {
        switch source {
        case .spool(let spool): return Records(name: name, lines: LineReader(try spool.chunks()))
        case .file(let file):
            let name = name
            let read = { (body: () throws -> [UInt8]?) throws(CommandFailure) -> [UInt8]? in
                do {
                    return try body()
                } catch {
                    throw CommandFailure("\(name): \(InputFile.reason(error))")
                }
            }
            _ = try read {
                try file.seek(toOffset: 0)
                return nil
            }
            return Records(
                name: name,
                lines: LineReader { () throws(CommandFailure) in
                    try read {
                        let data = try file.read(upToCount: Self.chunkSize) ?? Data()
                        return data.isEmpty ? nil : [UInt8](data)
                    }
                })
        }
    }

    /// The records of a file, one after the other.
    struct Records {
        let name: String
        var lines: LineReader
        private var decoder = RecordLineDecoder()

        init(name: String, lines: LineReader) {
            self.name = name
            self.lines = lines
        }

        /// The next record and where it stands; nil behind the last. Throws for a line that is none.
        mutating func next() throws(CommandFailure) -> (record: RestoredRecord, place: LinePlace)? {
            guard let line = try lines.line() else { return nil }
            let place = LinePlace(file: name, line: lines.number)
            do {
                let json = try JSONParser.parse(line, maximumDepth: ValueNotation.maximumJSONDepth)
                return (try decoder.record(RecordLine(json)), place)
            } catch var error as JSONParseError {
                error.line = place.line
                throw CommandFailure("\(name): \(error)")
            } catch {
                throw CommandFailure("\(place): \(error)")
            }
        }
    }
}

/// A line of a file, as messages call it.
struct LinePlace: Sendable, CustomStringConvertible {
    let file: String
    let line: Int

    var description: String { "\(file): line \(line)" }
}
