#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("Spooled bytes")
struct SpoolTests {
    @Test(
        "Spooled bytes come back in order and repeatedly, from memory and from a file",
        arguments: [0, 1, 100_000, 4 << 20, 9_000_001])
    func order(size: Int) throws {
        let spool = Spool()
        var written: [UInt8] = []
        var part = 1
        while written.count < size {
            let bytes = (0..<min(part, size - written.count)).map {
                UInt8(truncatingIfNeeded: $0 &* 31 &+ part)
            }
            try spool.append(bytes)
            written += bytes
            part = part * 3 % 100_003 + 1
        }
        #expect(spool.isSpilled == (size >= 4 << 20))
        for _ in 0..<2 {
            var read: [UInt8] = []
            try spool.forEachChunk { read += $0 }
            #expect(read == written)
        }
    }

    @Test("Lines are split wherever their bytes are divided, and blank ones are counted")
    func lines() throws {
        let text = "one\n\ntwo, é\r\n \t\nthree"
        for size in 1...text.utf8.count {
            var rest = Array(text.utf8)[...]
            var reader = LineReader { () throws(CommandFailure) in
                defer { rest = rest.dropFirst(size) }
                return rest.isEmpty ? nil : Array(rest.prefix(size))
            }
            var lines: [String] = []
            while let line = try reader.line() {
                lines.append("\(reader.number) \(String(decoding: line, as: UTF8.self))")
            }
            #expect(lines == ["1 one", "3 two, é\r", "5 three"])
            #expect(try reader.line() == nil)
        }
    }
}
#endif
