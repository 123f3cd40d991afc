/// What there is to try after the demo: commands, and what each is for.
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
                ("espalier --help", "all verbs"),
            ]
        }
        return [
            ("espalier ls \(cache)", "identifiers"),
            ("espalier get \(cache) Message:1", "a tree, as JSON"),
            ("espalier refs \(cache) Person:1", "what refers to a record"),
            ("espalier top \(cache)", "what takes the room"),
        ]
    }

    /// Commands to be copied, with what they are for where there is room for that.
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
    /// As a shell takes it for one word.
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
