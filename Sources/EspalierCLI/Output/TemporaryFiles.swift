#if CommandLine
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A temporary directory that is removed by `end`, and when a signal ends the process.
final class ScratchDirectory {
    let path: String
    private var signals: SignalWatch?

    /// - Parameter name: The name of the command.
    init(for name: String) throws(CommandFailure) {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "espalier-\(name)-\(UUID().uuidString)")
        path = url.path
        removeOnSignals()
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            signals?.cancel()
            throw CommandFailure("\(path): \(InputFile.reason(error))")
        }
    }

    /// Removes the directory.
    func end() {
        // Canceled last, because a signal may arrive during the removal.
        try? FileManager.default.removeItem(atPath: path)
        signals?.cancel()
    }

    /// Creates a new directory inside and returns its path.
    func makeDirectory(_ name: String) throws(CommandFailure) -> String {
        let folder = path + "/" + name
        try CommandFailure.naming(folder) {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false)
        }
        return folder
    }

    /// Removes a directory inside.
    func remove(_ name: String) { try? FileManager.default.removeItem(atPath: path + "/" + name) }

    /// Removes the directory when a signal ends the process, which skips `defer`.
    private func removeOnSignals() {
        signals = SignalWatch([SIGINT, SIGTERM, SIGHUP]) { [path] number in
            try? FileManager.default.removeItem(atPath: path)
            _exit(128 + number)
        }
    }
}

/// A buffer for output: in memory while it is small, then in an unlinked file that is gone with the
/// process.
///
///     let spool = Spool()
///     try spool.append(line)
///     try spool.forEachChunk { try Console.write($0) }
///
/// A command buffers what it reads from a snapshot, because the reader of standard output may be
/// slow and the snapshot must not stay open meanwhile. Confined to one thread.
final class Spool {
    private static let memoryLimit = 4 << 20
    private static let chunkSize = 1 << 18

    private var buffer: [UInt8] = []
    private var file: FileHandle?

    /// Whether the bytes are in a file.
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
            throw CommandFailure(
                "no file can be created in \(url.deletingLastPathComponent().path)")
        }
        defer { try? FileManager.default.removeItem(at: url) }
        return try FileHandle(forUpdating: url)
    }

    /// Calls `body` with all the bytes, in order and in parts. May be called repeatedly.
    func forEachChunk(_ body: ([UInt8]) throws -> Void) throws {
        let chunks = try chunks()
        while let chunk = try chunks() { try body(chunk) }
    }

    /// Returns a function that returns the next part at each call, and nil at the end. Nothing may
    /// be appended meanwhile.
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
            "the temporary file: \(InputFile.reason(error)). TMPDIR names the directory for it.")
    }
}
#endif
