import Foundation

/// Bytes put aside until somebody takes them: in memory while they are few, then in a file that has
/// no name any more and is gone with the process.
///
///     let spool = Spool()
///     try spool.append(line)
///     try spool.forEachChunk { try Console.write($0) }
///
/// What is read of a cache goes here first: whoever reads standard output may take any time, and
/// the snapshot must not last as long. Confined to one thread.
final class Spool {
    private static let memoryLimit = 4 << 20
    private static let chunkSize = 1 << 18

    private var buffer: [UInt8] = []
    private var file: FileHandle?

    /// Whether it is in a file.
    var isSpilled: Bool { file != nil }

    deinit { try? file?.close() }

    func append(_ bytes: [UInt8]) throws(CommandFailure) {
        buffer += bytes
        guard buffer.count >= (isSpilled ? Self.chunkSize : Self.memoryLimit) else { return }
        try spill()
    }

    private func spill() throws(CommandFailure) {
        do {
            let file = try file ?? Self.makeFile()
            self.file = file
            try file.write(contentsOf: Data(buffer))
            buffer.removeAll(keepingCapacity: true)
        } catch {
            throw Self.failure(error)
        }
    }

    private static func makeFile() throws -> FileHandle {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "espalier-\(UUID().uuidString)")
        guard
            FileManager.default.createFile(
                atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        else {
            throw CommandFailure("no file can be made in \(url.deletingLastPathComponent().path)")
        }
        defer { try? FileManager.default.removeItem(at: url) }
        return try FileHandle(forUpdating: url)
    }

    /// Lends all the bytes, in order and in parts; as often as it is called.
    func forEachChunk(_ body: ([UInt8]) throws -> Void) throws {
        let chunks = try chunks()
        while let chunk = try chunks() { try body(chunk) }
    }

    /// Gives one part at each call, from the beginning; nil at the end. Nothing may be appended
    /// meanwhile.
    func chunks() throws(CommandFailure) -> () throws(CommandFailure) -> [UInt8]? {
        guard let file else {
            var isTaken = false
            return { [buffer] () throws(CommandFailure) in
                defer { isTaken = true }
                return isTaken || buffer.isEmpty ? nil : buffer
            }
        }
        if !buffer.isEmpty { try spill() }
        do {
            try file.seek(toOffset: 0)
        } catch {
            throw Self.failure(error)
        }
        return { () throws(CommandFailure) in
            do {
                let data = try file.read(upToCount: Self.chunkSize) ?? Data()
                return data.isEmpty ? nil : [UInt8](data)
            } catch {
                throw Self.failure(error)
            }
        }
    }

    private static func failure(_ error: any Error) -> CommandFailure {
        if let failure = error as? CommandFailure { return failure }
        return CommandFailure(
            "the temporary file: \(InputFile.reason(error)). TMPDIR says where it is made.")
    }
}
