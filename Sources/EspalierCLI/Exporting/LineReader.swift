/// Cuts bytes that come in parts into lines.
struct LineReader {
    private let next: () throws(CommandFailure) -> [UInt8]?
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// That of the line read last, from 1.
    private(set) var number = 0

    init(_ next: @escaping () throws(CommandFailure) -> [UInt8]?) { self.next = next }

    /// The next line that is not blank, without its newline; nil behind the last one.
    mutating func line() throws(CommandFailure) -> [UInt8]? {
        while let line = try anyLine() {
            number += 1
            if !line.allSatisfy(\.isBlank) { return line }
        }
        return nil
    }

    private mutating func anyLine() throws(CommandFailure) -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return Array(buffer[start..<end])
            }
            searched = buffer.count - start
            buffer.removeFirst(start)
            start = 0
            guard !isAtEnd, let more = try next() else {
                isAtEnd = true
                defer { buffer = [] }
                return buffer.isEmpty ? nil : buffer
            }
            buffer += more
        }
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\r")
    }
}
