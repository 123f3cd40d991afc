import EspalierStore
import Foundation

/// Exports as they are read: once from their files, and then from what was put aside meanwhile. So
/// what is stored is what was checked, whatever becomes of the files, and a pipe is as good as a
/// file. Confined to one thread.
final class RecordFiles {
    private static let chunkSize = 1 << 18

    private let spool = Spool()
    /// The files in the spool, one behind the other.
    private var sections: [(name: String, size: Int)] = []

    /// Reads one more file to its end, and visits its records.
    func add(
        _ input: InputFile, _ body: (RestoredRecord, LinePlace) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let file: FileHandle
        do {
            file =
                input.isStandardInput
                ? .standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: input.path))
        } catch {
            throw CommandFailure("\(input.name): \(InputFile.reason(error))")
        }
        defer { if !input.isStandardInput { try? file.close() } }
        var size = 0
        var lines = RecordLines(
            file: input.name,
            LineReader { [spool] () throws(CommandFailure) in
                let part: [UInt8]
                do {
                    part = [UInt8](try file.read(upToCount: Self.chunkSize) ?? Data())
                } catch {
                    throw CommandFailure("\(input.name): \(InputFile.reason(error))")
                }
                try spool.append(part)
                size += part.count
                return part.isEmpty ? nil : part
            })
        while let (record, place) = try lines.next() { try body(record, place) }
        sections.append((input.name, size))
    }

    /// The records of all the files again. Each has to be taken to its end before the next one is.
    func again() throws(CommandFailure) -> [RecordLines] {
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
