/// The documents and exports that mutations begin with, and forged exports.
enum Samples {
    /// Posts with their authors, as a server sends them.
    static let document = """
        {"statuses":[{"id_str":"1","text":"Meow","lang":"en","counts":[1,2,3.5,-7e3],"user":\
        {"id_str":"7","name":"Ada","verified":false,"url":null}},{"id_str":"2","text":"\\u732B \
        \\ud83d\\ude00","place":{"id_str":"9","name":"Göteborg","box":[[1.5,2.5],[3.25,4.75]]},\
        "retweeted":{"id_str":"1","text":"Meow"},"user":{"id_str":"7","name":"Ada"}},\
        {"id_str":"3","n":12345678901234567890123,"empty":{},"none":[],"user":{"id_str":"8",\
        "name":"Grace","friend":{"id_str":"7","name":"Ada"}}}],"meta":{"count":3}}
        """

    /// Every kind of line that an export has.
    static let export = """
        {"kind":"node","identifier":"Status:1","types":["Status"],"fields":{"id_str":"1","text":\
        "Meow","user":{"$ref":"user:7"}}}
        {"kind":"node","identifier":"user:7","types":["user","person"],"fields":{"id_str":"7",\
        "name":"Ada","n":{"$decimal":"1e40"},"friend":{"$ref":"user:8"}}}
        {"kind":"node","identifier":"user:8","types":["user"],"fields":{"friend":{"$ref":"user:7"},\
        "gone":{"$deleted":1},"id_str":"8","lost":{"$lost":1}}}
        {"kind":"key","identifier":"me","value":{"$ref":"user:7"}}
        {"kind":"collection","identifier":"search","elements":[{"$ref":"Status:1"},{"$ref":\
        "user:8"},{"text":"inline"}]}

        """

    /// What mutations insert.
    static let tokens = [
        "{", "}", "[", "]", "\"", ",", ":", "null", "\\u0000", "\\ud800", "1e999999", "-0.0",
        "123456789012345678901234567890", "{\"$ref\":\"user:7\"}", "{\"$ref\":\"nobody\"}",
        "{\"$lost\":-1}", "{\"$deleted\":18446744073709551616}", "{\"$decimal\":\"1e999999999\"}",
        "{\"$decimal\":\"NaN\"}", "{\"$data\":\"////\"}", "\"id_str\":\"1\",", "\"id_str\":{},",
        "\u{FEFF}", "\u{202E}", "\n", "\r\n", "//", "NaN", "\"kind\":\"node\",", "\"\":0,",
    ]

    /// Exports whose lines are right and whose records are hostile.
    static func forgery(_ random: inout Random) -> (name: String, text: String) {
        func node(_ name: String, _ fields: String) -> String {
            "{\"kind\":\"node\",\"identifier\":\"\(name)\",\"types\":[\"F\"],\"fields\":{\(fields)}}\n"
        }
        func reference(_ name: String) -> String { "{\"$ref\":\"\(name)\"}" }
        let size = 1 + random.below(random.happens(0.2) ? 3_000 : 60)
        switch random.below(8) {
        case 0:
            let lines = (0..<size).map {
                node("F:\($0)", "\"a\":\(reference("F:\(($0 + 1) % size)"))")
            }
            return ("a cycle of \(size)", lines.joined())
        case 1:
            // As many logical nodes as 2 to the number of levels: few enough to print, or more than
            // a read returns.
            let levels = random.pick([16, 22 + random.below(38)])
            let lines = (0..<levels).map {
                node(
                    "F:\($0)", "\"a\":\(reference("F:\($0 + 1)")),\"b\":\(reference("F:\($0 + 1)"))"
                )
            }
            return ("a diamond of \(levels)", lines.joined() + node("F:\(levels)", "\"x\":1"))
        case 2:
            let lines = (0..<size).map { node("F:\($0)", "\"a\":\(reference("F:\($0 + 1)"))") }
            return ("a chain of \(size)", lines.joined() + node("F:\(size)", ""))
        case 3:
            let nested =
                String(repeating: "[", count: size * 10)
                + String(repeating: "]", count: size * 10)
            return ("lists \(size * 10) deep", node("F:0", "\"a\":\(nested)"))
        case 4:
            let fields = (0..<size * 5).map { "\"f\($0)\":\($0)" }.joined(separator: ",")
            return ("\(size * 5) fields", node("F:0", fields))
        case 5:
            let name = "F:" + String(repeating: "x", count: size * 100)
            return ("a name of \(size * 100) letters", node(name, "\"a\":\(reference(name))"))
        case 6:
            let elements = (0..<size * 5).map { _ in reference("F:0") }.joined(separator: ",")
            let list = "{\"kind\":\"collection\",\"identifier\":\"l\",\"elements\":[\(elements)]}\n"
            return ("a list of \(size * 5)", node("F:0", "\"x\":1") + list)
        default:
            let key = "{\"kind\":\"key\",\"identifier\":\"F:0\",\"value\":\(reference("F:0"))}\n"
            return ("a key of its own name", node("F:0", "\"F:0\":\(reference("F:0"))") + key)
        }
    }

    /// Returns a text with 1 to 8 changes.
    static func mutated(_ text: String, _ random: inout Random) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0..<1 + random.below(8) where !bytes.isEmpty {
            let place = random.below(bytes.count)
            let end = min(bytes.count, place + 1 + random.below(60))
            switch random.below(9) {
            case 0: bytes[place] ^= 1 << UInt8(random.below(8))
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes.removeSubrange(place..<end)
            case 3: bytes.insert(contentsOf: bytes[place..<end], at: random.below(bytes.count))
            case 4, 5: bytes.insert(contentsOf: random.pick(tokens).utf8, at: place)
            case 6: bytes.removeLast(bytes.count - place)
            case 7:
                let depth = random.happens(0.1) ? 100_000 : random.below(600)
                bytes.insert(
                    contentsOf: [UInt8](repeating: random.pick([91, 123]), count: depth), at: place)
            default: bytes.insert(contentsOf: [0xC0, 0x80, 0xED, 0xA0, 0x80, 0xFF], at: place)
            }
        }
        return bytes
    }
}
