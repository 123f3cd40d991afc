import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Where the demo's caches are: in a temporary directory that goes when the demo ends, but the first one, where that is wanted, in
/// one of the user's that stays.
final class DemoDirectory {
    let path: String
    let isKept: Bool
    private let scratch: String
    private var signals: [any DispatchSourceSignal] = []

    /// - Parameter kept: does not exist, or is empty: nothing of the user's is ever replaced.
    init(keeping kept: String?) throws(CommandFailure) {
        isKept = kept != nil
        let scratch =
            FileManager.default.temporaryDirectory.appendingPathComponent("espalier-demo-\(UUID().uuidString)")
        self.scratch = scratch.path
        path = kept ?? scratch.appendingPathComponent("feed.cache").path
        if let kept { try Self.requireFree(kept) }
        removeOnSignals()
        do {
            try FileManager.default.createDirectory(
                at: scratch, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure("\(scratch.path): \(InputFile.reason(error))")
        }
    }

    /// For a cache that the demo makes besides, and that is not kept.
    func temporary(_ name: String) -> String { scratch + "/" + name }

    private static func requireFree(_ path: String) throws(CommandFailure) {
        let files = FileManager.default
        // Of the path itself: a symbolic link that leads nowhere is there, too.
        guard let type = try? files.attributesOfItem(atPath: path)[.type] as? FileAttributeType else { return }
        guard type == .typeDirectory else {
            throw CommandFailure("\(path) is there and no directory. Give one that does not exist or is empty.")
        }
        do {
            guard try files.contentsOfDirectory(atPath: path).isEmpty else {
                throw CommandFailure("\(path) is not empty. Give a directory that does not exist or is empty.")
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("\(path): \(InputFile.reason(error))")
        }
    }

    /// Removes the temporary directory.
    func end() {
        for signal in signals { signal.cancel() }
        try? FileManager.default.removeItem(atPath: scratch)
    }

    /// `defer` does not see a process end that way. A closed pipe is an error of writing instead, which it does see.
    private func removeOnSignals() {
        signal(SIGPIPE, SIG_IGN)
        signals = [SIGINT, SIGTERM, SIGHUP].compactMap { [scratch] number in
            // What was ignored before, as by nohup, stays so.
            guard !Terminal.isIgnored(number) else { return nil }
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                try? FileManager.default.removeItem(atPath: scratch)
                _exit(128 + number)
            }
            source.resume()
            return source
        }
    }
}
