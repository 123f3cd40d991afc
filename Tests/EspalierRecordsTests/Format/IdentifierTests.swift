import EspalierRecords
import Foundation
import Testing

@Suite("Identifiers are their bytes")
struct IdentifierTests {
    @Test("Composed and decomposed text are one Swift string and two identifiers")
    func normalization() {
        let composed = Identifier("caf\u{E9}"), decomposed = Identifier("cafe\u{301}")
        #expect(composed.string == decomposed.string)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(composed == Identifier("caf\u{E9}"))
    }

    @Test(
        "Every unusual identifier is different from all others",
        arguments: ["0", ".", "a.b", "+", ":", "/", "(", "\"", "\0", "a\0", "🐈", " "])
    func odd(text: String) {
        #expect(Identifier(text) == Identifier(text))
        #expect(Identifier(text) != Identifier(text + "\0"))
        #expect(Identifier(text).description == text)
    }
}

@Suite("Identifiers are equal where all of their bytes are equal, at every length and address")
struct IdentifierBytesTests {
    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the same text with its bytes elsewhere in memory: appended one by one, cut out of a
    /// longer text, and through Foundation.
    static func copies(of text: String) -> [String] {
        var appended = ""
        for scalar in text.unicodeScalars { appended.unicodeScalars.append(scalar) }
        let longer = "before" + text + "behind"
        let start = longer.utf8.index(longer.utf8.startIndex, offsetBy: 6)
        let cut = longer[start..<longer.utf8.index(start, offsetBy: text.utf8.count)]
        return [
            appended, String(cut), String(cut.dropFirst(0)),
            String(describing: NSString(string: text)),
            String(data: Data(text.utf8), encoding: .utf8) ?? "",
            text.split(separator: "", omittingEmptySubsequences: true)
                .joined(),
        ]
    }

    @Test(
        "One different byte makes another identifier, at each position of each length",
        arguments: 0...40)
    func oneByte(length: Int) {
        let bytes = (0..<length).map { UInt8(0x21 + $0 % 90) }
        let identifier = Identifier(Self.text(bytes))
        #expect(identifier == Identifier(Self.text(bytes)))
        #expect(identifier.hashValue == Identifier(Self.text(bytes)).hashValue)
        for place in 0..<length {
            for byte in [0, 1, 0x20, 0x7F] as [UInt8] {
                var changed = bytes
                changed[place] = byte
                let other = Identifier(Self.text(changed))
                #expect(identifier != other && other != identifier, "\(byte) at \(place)")
                #expect(
                    identifier.string.bytesHash != other.string.bytesHash, "\(byte) at \(place)")
            }
        }
    }

    @Test("One more byte makes another identifier, in front and behind", arguments: 0...40)
    func oneByteMore(length: Int) {
        for filling in [0, 0x61] as [UInt8] {
            let bytes = [UInt8](repeating: filling, count: length)
            let identifier = Identifier(Self.text(bytes))
            for byte in [0, 1, 0x61] as [UInt8] {
                for other in [bytes + [byte], [byte] + bytes] {
                    #expect(identifier != Identifier(Self.text(other)))
                    #expect(identifier.string.bytesHash != Self.text(other).bytesHash)
                }
            }
        }
    }

    @Test("Runs of one byte have different hashes at every length")
    func runs() {
        for byte in [0, 0x61, 0x7F] as [UInt8] {
            let texts = (0...100).map { Self.text([UInt8](repeating: byte, count: $0)) }
            #expect(Set(texts.map(\.bytesHash)).count == texts.count)
            #expect(Set(texts.map { Identifier($0) }).count == texts.count)
        }
    }

    static let texts =
        [
            "", "a",
            "seven b", "eight by", "nine byte", "é", "e\u{301}", "ﬀ", "猫", "🐈‍⬛", "großes Ü",
            "a\0b", "\0",
        ]
        + [
            "naïve café — naïve café", "日本語の識別子", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "short é", "sixteen bytes, é",
            "a much longer one: e\u{301}",
        ]

    @Test("Text is the same identifier wherever its bytes stand in memory", arguments: texts)
    func copies(text: String) {
        for copy in Self.copies(of: text) {
            #expect(Identifier(copy) == Identifier(text), "\(Array(copy.utf8))")
            #expect(Identifier(text) == Identifier(copy))
            #expect(copy.bytesHash == text.bytesHash)
            #expect(Identifier(copy).hashValue == Identifier(text).hashValue)
            #expect(Identifier(copy + "x") != Identifier(text))
        }
    }

    @Test(
        "One different byte makes another identifier also in text that is not ASCII",
        arguments: 0...12)
    func nonASCII(place: Int) {
        let text = [String](repeating: "é", count: 13)
        for scalar in ["è", "e\u{301}", "e", "日"] {
            var changed = text
            changed[place] = scalar
            #expect(Identifier(text.joined()) != Identifier(changed.joined()))
            #expect(text.joined().bytesHash != changed.joined().bytesHash)
        }
    }

    @Test("No two of many short texts share a hash, or the half of it that tables keep")
    func spread() {
        let texts = (0..<20_000).map { "node:\($0)" }
        #expect(Set(texts.map(\.bytesHash)).count == texts.count)
        // By chance, one pair collides in about twenty such sets.
        #expect(Set(texts.map { $0.bytesHash >> 32 }).count > texts.count - 10)
        #expect(Set(texts.map { $0.bytesHash & 0xFFFF }).count > 15_000)
    }
}
