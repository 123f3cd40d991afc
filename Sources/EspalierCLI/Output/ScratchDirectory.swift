import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A temporary directory that goes when `end` is called, and when a signal ends the process.
final class ScratchDirectory {
    let path: String
    private var signals: SignalWatch?

    /// - Parameter name: of the verb it is for.
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

    /// Removes it.
    func end() {
        // Not before: a signal may come while much is being removed.
        try? FileManager.default.removeItem(atPath: path)
        signals?.cancel()
    }

    /// A directory in it that does not exist yet.
    func makeDirectory(_ name: String) throws(CommandFailure) -> String {
        let folder = path + "/" + name
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false)
        } catch {
            throw CommandFailure("\(folder): \(InputFile.reason(error))")
        }
        return folder
    }

    /// Removes a directory in it.
    func remove(_ name: String) { try? FileManager.default.removeItem(atPath: path + "/" + name) }

    /// `defer` does not see a process end that way. A closed pipe is an error of writing instead,
    /// which it does see.
    private func removeOnSignals() {
        signal(SIGPIPE, SIG_IGN)
        signals = SignalWatch([SIGINT, SIGTERM, SIGHUP]) { [path] number in
            try? FileManager.default.removeItem(atPath: path)
            _exit(128 + number)
        }
    }
}
