import Foundation

/// Where the demo's caches are: in a temporary directory that goes when the demo ends, but the
/// first one, where that is wanted, in one of the user's that stays.
final class DemoDirectory {
    let path: String
    let isKept: Bool
    private let scratch: ScratchDirectory

    /// - Parameter kept: does not exist, or is empty: nothing of the user's is ever replaced.
    init(keeping kept: String?) throws(CommandFailure) {
        isKept = kept != nil
        if let kept { try Self.requireFree(kept) }
        scratch = try ScratchDirectory(for: "demo")
        path = kept ?? scratch.path + "/feed.cache"
    }

    /// For a cache that the demo makes besides, and that is not kept.
    func temporary(_ name: String) -> String { scratch.path + "/" + name }

    private static func requireFree(_ path: String) throws(CommandFailure) {
        let files = FileManager.default
        // Of the path itself: a symbolic link that leads nowhere is there, too.
        guard let type = try? files.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        else { return }
        guard type == .typeDirectory else {
            throw CommandFailure(
                "\(path) is there and no directory. Give one that does not exist or is empty.")
        }
        do {
            guard try files.contentsOfDirectory(atPath: path).isEmpty else {
                throw CommandFailure(
                    "\(path) is not empty. Give a directory that does not exist or is empty.")
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("\(path): \(InputFile.reason(error))")
        }
    }

    /// Removes the temporary directory.
    func end() { scratch.end() }
}
