import EspalierRecords
import Foundation
import Testing

@Suite(
    "Identifiers are equal where all of their bytes are, whatever their lengths and wherever they stand"
)
struct IdentifierBytesTests {
    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// The same text with its bytes elsewhere: appended one by one, cut out of a longer one, and
    /// through Foundation.
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
        "one byte that differs makes another identifier, at each place of each length",
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

    @Test("one byte more makes another identifier, in front and behind", arguments: 0...40)
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

    @Test("runs of one byte hash apart at every length")
    func runs() {
        for byte in [0, 0x61, 0x7F] as [UInt8] {
            let texts = (0...100).map { Self.text([UInt8](repeating: byte, count: $0)) }
            #expect(Set(texts.map(\.bytesHash)).count == texts.count)
            #expect(Set(texts.map { Identifier($0) }).count == texts.count)
        }
    }

    static let texts =
        [
            "", "a", "seven b", "eight by", "nine byte", "é", "e\u{301}", "ﬀ", "猫", "🐈‍⬛", "großes Ü",
            "a\0b", "\0",
        ]
        + [
            "naïve café — naïve café", "日本語の識別子", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "short é", "sixteen bytes, é",
            "a much longer one: e\u{301}",
        ]

    @Test("text is the same identifier wherever its bytes stand", arguments: texts)
    func copies(text: String) {
        for copy in Self.copies(of: text) {
            #expect(Identifier(copy) == Identifier(text), "\(Array(copy.utf8))")
            #expect(Identifier(text) == Identifier(copy))
            #expect(copy.bytesHash == text.bytesHash)
            #expect(Identifier(copy).hashValue == Identifier(text).hashValue)
            #expect(Identifier(copy + "x") != Identifier(text))
        }
    }

    @Test("of text that is not ASCII, too, one byte that differs makes another", arguments: 0...12)
    func nonASCII(place: Int) {
        let text = [String](repeating: "é", count: 13)
        for scalar in ["è", "e\u{301}", "e", "日"] {
            var changed = text
            changed[place] = scalar
            #expect(Identifier(text.joined()) != Identifier(changed.joined()))
            #expect(text.joined().bytesHash != changed.joined().bytesHash)
        }
    }

    @Test("no two of many short texts share a hash, nor its half that tables keep")
    func spread() {
        let texts = (0..<20_000).map { "node:\($0)" }
        #expect(Set(texts.map(\.bytesHash)).count == texts.count)
        // By chance, about one pair in twenty such sets.
        #expect(Set(texts.map { $0.bytesHash >> 32 }).count > texts.count - 10)
        #expect(Set(texts.map { $0.bytesHash & 0xFFFF }).count > 15_000)
    }
}
