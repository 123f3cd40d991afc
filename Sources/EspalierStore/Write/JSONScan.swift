import EspalierRecords
import Foundation

/// Walks through the bytes of a JSON document, and knows the path of the current value.
///
/// `ingest` uses it for what Foundation's decoder does not tell: the decoder accepts two fields of
/// the same name in one object, and does not say where a document ends too early.
///
///     [{"id": 1, "user": {"id": 7, "id": 8}}]       $[0].user.id: the key occurs twice
///
/// The document must be UTF-8. A comma before a closing bracket is allowed, as in Foundation.
/// Names are compared by their bytes, after escapes like `\u0061` are resolved.
struct JSONScan {
    /// What is wrong with a document, and where.
    struct Problem: Error, Equatable {
        let path: String
        let reason: String
        /// Whether the document is valid JSON nevertheless.
        var isDuplicate = false
    }

    private struct Frame {
        let isObject: Bool
        /// The number of values before the current one.
        var index = 0
        /// The current key, without quotes.
        var key = 0..<0
        /// Where the keys of the object begin in `keys`.
        let firstKey: Int
        /// The keys of a large object. Hashes without a secret could be made to collide.
        var names: Set<String> = []
    }

    private enum Expected { case value, key, separator }

    /// The number of keys up to which they are compared one by one.
    private static let smallObject = 32

    private let bytes: [UInt8]
    private var position = 0
    private var frames: [Frame] = []
    private var keys: [(hash: UInt64, range: Range<Int>)] = []
    private var expected = Expected.value
    /// Where the numbers of the document stand, in a thorough walk.
    private(set) var numbers: [Range<Int>] = []
    /// Whether to check that texts are valid UTF-8, and to fill `numbers`.
    private let isThorough: Bool

    init(_ bytes: [UInt8], isThorough: Bool = false) {
        self.bytes = bytes
        self.isThorough = isThorough
        // A byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Walks to the end of the document.
    ///
    /// - Parameter stop: The position before which to stop.
    /// - Complexity: O(bytes), as long as the names of an object have different hashes.
    mutating func run(until stop: Int = .max) throws(Problem) {
        while true {
            skipSpace()
            guard position < min(stop, bytes.count) else { break }
            switch expected {
            case .value: try value()
            case .key: try key()
            case .separator:
                guard !frames.isEmpty else { throw problem("the document goes on after its end") }
                try separator()
            }
        }
        guard stop == .max else { return }
        guard frames.isEmpty, expected == .separator else {
            throw problem("the document ends too early")
        }
    }

    /// The JSON path of the current value.
    var path: String {
        // Into one string: a copy for each level would take quadratic time in a deep document.
        frames.reduce(into: "$") { path, frame in
            path += frame.isObject ? ".\(text(frame.key))" : "[\(frame.index)]"
        }
    }

    // MARK: Questions

    /// Returns where a document has the first two fields of the same name in one object; nil if it
    /// has none, or if the document is not valid UTF-8 JSON up to there.
    static func duplicate(in document: Data) -> Problem? {
        var scan = JSONScan([UInt8](document))
        do {
            try scan.run()
        } catch  where error.isDuplicate {
            return error
        } catch {
            // Foundation's decoder judges the rest.
        }
        return nil
    }

    /// Returns what is wrong with a document that a decoder refuses without saying where; nil if
    /// that can't be found out.
    ///
    /// - Parameter decode: Decodes a document. Called with copies of `document` in which some
    ///   numbers are replaced by 0, to find the first number that the decoder refuses.
    /// - Complexity: O(bytes) for a document that is not valid JSON. Otherwise O(log *n*)
    ///   decodings, where *n* is the count of numbers in the document.
    static func problem(in document: Data, _ decode: (Data) throws -> Void) -> Problem? {
        let bytes = [UInt8](document)
        // UTF-16 and UTF-32.
        guard !bytes.prefix(4).contains(where: { $0 == 0 || $0 >= 0xFE }) else { return nil }
        var scan = JSONScan(bytes, isThorough: true)
        do {
            try scan.run()
        } catch {
            return error
        }
        let numbers = scan.numbers
        /// Returns whether the decoder refuses the document if only its first `count` numbers stay
        /// as they are.
        func refuses(_ count: Int) -> Bool {
            var changed = bytes
            for range in numbers[count...] {
                for position in range { changed[position] = UInt8(ascii: " ") }
                changed[range.lowerBound] = UInt8(ascii: "0")
            }
            do {
                try decode(Data(changed))
                return false
            } catch {
                return IngestError.hasNoPath(error)
            }
        }
        guard !refuses(0) else { return nil }
        var (fitting, refused) = (0, numbers.count)
        while refused - fitting > 1 {
            let middle = (fitting + refused) / 2
            if refuses(middle) { refused = middle } else { fitting = middle }
        }
        guard refused > 0 else { return nil }
        let range = numbers[refused - 1]
        var prefix = JSONScan(bytes)
        try? prefix.run(until: range.lowerBound)
        let text = String(decoding: bytes[range], as: UTF8.self)
        return Problem(path: prefix.path, reason: "the number \(text) does not fit the type")
    }

    // MARK: Parts

    private mutating func value() throws(Problem) {
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            position += 1
            let isObject = byte == UInt8(ascii: "{")
            frames.append(Frame(isObject: isObject, firstKey: keys.count))
            expected = isObject ? .key : .value
        case UInt8(ascii: "]") where frames.last?.isObject == false:
            try separator()
        case UInt8(ascii: "\""):
            _ = try string()
            expected = .separator
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            number()
            expected = .separator
        default:
            for word in ["true", "false", "null"] where bytes[position...].starts(with: word.utf8) {
                position += word.utf8.count
                expected = .separator
                return
            }
            throw problem("a value was expected")
        }
    }

    private mutating func key() throws(Problem) {
        if bytes[position] == UInt8(ascii: "}") { return try separator() }
        guard bytes[position] == UInt8(ascii: "\"") else { throw problem("a key was expected") }
        let range = try string()
        let hash = hash(of: range)
        let last = frames.count - 1
        frames[last].key = range
        if isKnown(hash, range, inFrame: last) {
            throw Problem(path: path, reason: "the key occurs twice", isDuplicate: true)
        }
        keys.append((hash, range))
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else {
            throw problem("a colon was expected")
        }
        position += 1
        expected = .value
    }

    private mutating func separator() throws(Problem) {
        let last = frames.count - 1
        let isObject = frames[last].isObject
        switch bytes[position] {
        case UInt8(ascii: ","):
            frames[last].index += 1
            expected = isObject ? .key : .value
        case UInt8(ascii: "}") where isObject, UInt8(ascii: "]") where !isObject:
            keys.removeLast(keys.count - frames[last].firstKey)
            frames.removeLast()
            expected = .separator
        default:
            throw problem(isObject ? "a comma or } was expected" : "a comma or ] was expected")
        }
        position += 1
    }

    private mutating func number() {
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
                UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
                position += 1
                continue
            default: break
            }
            break
        }
        if isThorough { numbers.append(start..<position) }
    }

    /// Reads a string. Returns where it stands between its quotes.
    private mutating func string() throws(Problem) -> Range<Int> {
        position += 1
        let start = position
        while position < bytes.count {
            skipPlainText()
            guard position < bytes.count else { break }
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                let range = start..<position
                if isThorough, String(validating: bytes[range], as: UTF8.self) == nil {
                    throw problem("a text is not valid UTF-8")
                }
                position += 1
                return range
            }
            guard byte >= 0x20 else { throw problem("a text has a control character") }
            position += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        throw problem("the document ends too early")
    }

    /// Skips eight bytes of text at a time, as long as none of them is a quote, a backslash or a
    /// control character. The tests of all bytes of a word at once are those of "Bit Twiddling
    /// Hacks" by Sean Eron Anderson: https://graphics.stanford.edu/~seander/bithacks.html.
    private mutating func skipPlainText() {
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        position = ByteReader.reading(bytes) { reader in
            reader.position = position
            while let word = try? reader.integer(UInt64.self) {
                let quotes = word ^ ones &* 0x22
                let backslashes = word ^ ones &* 0x5C
                let found =
                    (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
                    | (word &- ones &* 0x20) & ~word
                guard found & tops == 0 else { return reader.position - 8 }
            }
            return reader.position
        }
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    // MARK: Keys

    /// Returns whether the object has a key already: the same, or one that Unicode calls equal,
    /// because Foundation's decoder takes one of these, too. A small object compares the new key
    /// with each one; a larger one has a set.
    private mutating func isKnown(_ hash: UInt64, _ range: Range<Int>, inFrame last: Int) -> Bool {
        let known = keys[frames[last].firstKey...]
        guard known.count >= Self.smallObject else {
            return known.contains { $0.hash == hash && text($0.range) == text(range) }
        }
        if known.count == Self.smallObject {
            frames[last].names = Set(known.map { text($0.range) })
        }
        return !frames[last].names.insert(text(range)).inserted
    }

    /// Returns a hash of the text between quotes, by FNV-1a where it is ASCII:
    /// http://www.isthe.com/chongo/tech/comp/fnv.
    private func hash(of range: Range<Int>) -> UInt64 {
        func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
            bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        }
        let quoted = bytes[range]
        if quoted.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\\") }) { return hash(quoted) }
        let text = text(range)
        return text.utf8.allSatisfy { $0 < 0x80 }
            ? hash(text.utf8) : UInt64(bitPattern: Int64(text.hashValue))
    }

    /// Returns the text between quotes.
    private func text(_ range: Range<Int>) -> String {
        let quoted = bytes[range]
        guard quoted.contains(UInt8(ascii: "\\")) else {
            return String(decoding: quoted, as: UTF8.self)
        }
        let document = Data(#"[""#.utf8) + quoted + Data(#""]"#.utf8)
        let texts = try? JSONDecoder().decode([String].self, from: document)
        return texts?.first ?? String(decoding: quoted, as: UTF8.self)
    }

    private func problem(_ reason: String) -> Problem { Problem(path: path, reason: reason) }
}
