import Foundation

/// Where charts are written, a file for each suite.
struct ChartFolder {
    let path: String

    /// Makes it if it is not there. Fails before anything is measured where nothing could be
    /// written later.
    init(_ path: String) throws(CommandFailure) {
        self.path = path
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch CocoaError.fileWriteFileExists {
            throw CommandFailure("--svg \(path): is a file. Name a directory.")
        } catch {
            throw CommandFailure("--svg \(path): \(InputFile.reason(error))")
        }
        guard FileManager.default.isWritableFile(atPath: path) else {
            throw CommandFailure("--svg \(path): can't be written")
        }
    }

    /// Writes the chart of a suite; the name of the file.
    func write(_ result: SuiteResult, note: String) throws(CommandFailure) -> String {
        let file = URL(fileURLWithPath: path).appendingPathComponent("\(result.suite.rawValue).svg")
            .relativePath
        do {
            try Data(result.chart.svg(note: note).utf8).write(
                to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            throw CommandFailure("\(file): \(InputFile.reason(error))")
        }
        return file
    }
}
