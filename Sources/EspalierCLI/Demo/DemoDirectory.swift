#if CommandLine
import Foundation

/// The directory of the demo's caches: a temporary one that is removed when the demo ends. The user
/// may keep the first cache in a directory that stays.
final class DemoDirectory {
    let path: String
    let isKept: Bool
    private let scratch: ScratchDirectory

    /// - Parameter kept: The directory to keep. It must not exist or must be empty: the demo
    ///   replaces no file of the user.
    init(keeping kept: String?) throws(CommandFailure) {
        isKept = kept != nil
        if let kept { try Self.requireFree(kept) }
        scratch = try ScratchDirectory(for: "demo")
        path = kept ?? scratch.path + "/feed.cache"
    }

    /// Returns the path of another cache, which is not kept.
    func temporary(_ name: String) -> String { scratch.path + "/" + name }

    private static func requireFree(_ path: String) throws(CommandFailure) {
        let files = FileManager.default
        // Asks about the path itself: a symbolic link that leads nowhere exists too.
        guard let type = try? files.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        else { return }
        guard type == .typeDirectory else {
            throw CommandFailure(
                "\(path) is there and no directory. Give one that does not exist or is empty.")
        }
        try CommandFailure.naming(path) {
            guard try files.contentsOfDirectory(atPath: path).isEmpty else {
                throw CommandFailure(
                    "\(path) is not empty. Give a directory that does not exist or is empty.")
            }
        }
    }

    /// Removes the temporary directory.
    func end() { scratch.end() }
}

/// Commands to try after the demo, each with its purpose.
struct NextSteps: Sendable {
    /// The directory in which the demo left its cache; nil if it is gone.
    let cache: String?

    var title: String {
        cache == nil
            ? "Where to go next, besides README.md:"
            : "The cache was left in its directory. Look around in it:"
    }

    private var commands: [(command: String, purpose: String)] {
        guard let cache = cache?.shellWord else {
            return [
                ("espalier demo --keep DIRECTORY", "leaves the cache there, to look around in it"),
                ("espalier import --help", "how to store JSON of yours"),
                ("espalier bench", "measures reading, against JSONDecoder too"),
                ("espalier --help", "all commands"),
            ]
        }
        return [
            ("espalier ls \(cache)", "identifiers"),
            ("espalier get \(cache) Message:1", "a tree, as JSON"),
            ("espalier refs \(cache) Person:1", "what refers to a record"),
            ("espalier top \(cache)", "what takes the room"),
        ]
    }

    /// Returns commands to copy, with their purposes if these fit.
    func lines(width: Int) -> [StyledLine] {
        let columns = commands.map(\.command.terminalColumns).max() ?? 0
        let purposes = commands.map(\.purpose.terminalColumns).max() ?? 0
        let hasRoom = columns + 2 + purposes <= width
        return commands.map { command, purpose in
            guard hasRoom else { return StyledLine(command, .name) }
            return StyledLine(command, .name).fitted(to: columns) + StyledLine("  " + purpose)
        }
    }
}

extension String {
    /// The string as one word of a shell.
    var shellWord: String {
        let isPlain = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "/._-+:@%".utf8.contains(byte) || byte >= 0x80
            }
        }
        return isPlain && !isEmpty ? self : "'" + replacing("'", with: "'\\''") + "'"
    }
}
#endif
