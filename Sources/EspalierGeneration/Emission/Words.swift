/// Turns names of JSON into names of Swift.
enum Words {
    /// Returns the name of a property or case: `created_at` is `createdAt`.
    static func property(_ text: String) -> String {
        let words = words(of: text)
        guard let first = words.first else { return "empty" }
        let name = lowercasedStart(first) + words.dropFirst().map(capitalized).joined()
        return name.first?.isNumber == true ? "_" + name : name
    }

    /// Returns the name of a type: `user_mention` is `UserMention`.
    static func type(_ text: String) -> String {
        let name = words(of: text).map(capitalized).joined()
        guard let first = name.first else { return "Empty" }
        return first.isNumber ? "_" + name : name
    }

    /// Returns the word for one of several: `statuses` is `status`. A word that is no plural, as
    /// far as this can tell, stays as it is.
    static func singular(_ word: String) -> String {
        let small = word.lowercased()
        func dropping(_ count: Int, adding end: String = "") -> String {
            String(word.dropLast(count)) + end
        }
        // `UserIndices` and `user_indices` end with a word of their own.
        let start = word.lastIndex { $0.isUppercase } ?? word.startIndex
        let last = word[start...].lowercased().split { "_- ".contains($0) }.last ?? ""
        if let (count, end) = irregularPlurals[String(last)] { return dropping(count, adding: end) }
        let kept = ["ss", "us", "is", "news", "series", "species"]
        guard small.count > 2, small.hasSuffix("s"), !kept.contains(where: small.hasSuffix),
            !singularWords.contains(String(last)), !singularWords.contains(small)
        else { return word }
        if small.count > 4, small.hasSuffix("ies") { return dropping(3, adding: "y") }
        // `statuses`, `boxes` and `branches`, but `houses` and `pages`.
        let sibilants = ["tuses", "ruses", "nuses", "xes", "sses", "shes", "ches"]
        return dropping(sibilants.contains(where: small.hasSuffix) ? 2 : 1)
    }

    /// Plurals that no rule covers, of those that documents have: how much of the end is replaced,
    /// and by what.
    private static let irregularPlurals: [String: (count: Int, end: String)] = [
        "movies": (1, ""), "cookies": (1, ""), "calories": (1, ""), "selfies": (1, ""),
        "zombies": (1, ""), "hoodies": (1, ""), "smoothies": (1, ""), "rookies": (1, ""),
        "curies": (1, ""), "buses": (2, ""), "aliases": (2, ""), "biases": (2, ""),
        "canvases": (2, ""), "atlases": (2, ""), "heroes": (2, ""), "echoes": (2, ""),
        "potatoes": (2, ""), "tomatoes": (2, ""), "vetoes": (2, ""), "quizzes": (3, ""),
        "caches": (1, ""), "aches": (1, ""), "headaches": (1, ""), "axes": (2, "is"),
        "analyses": (2, "is"), "crises": (2, "is"), "theses": (2, "is"), "indices": (4, "ex"),
        "vertices": (4, "ex"), "matrices": (3, "x"), "appendices": (3, "x"),
        "knives": (3, "fe"), "lives": (3, "fe"), "wives": (3, "fe"), "leaves": (3, "f"),
        "halves": (3, "f"), "shelves": (3, "f"), "wolves": (3, "f"), "loaves": (3, "f"),
        "thieves": (3, "f"), "selves": (3, "f"),
    ]

    /// Words that end as plurals do, and are none.
    private static let singularWords: Set<String> = [
        "alias", "atlas", "aws", "bias", "canvas", "chaos", "cors", "css", "dns", "gas", "gps",
        "has", "https", "ios", "kudos", "lens", "macos", "os", "sms", "sos", "tls", "tvos", "was",
        "watchos", "yes",
    ]

    /// Returns the name with backticks if it is a word of the language.
    static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// The parts of a name, which anything but letters and digits separates.
    private static func words(of text: String) -> [String] {
        // GitHub's reactions are named +1 and -1.
        var text = text
        if let sign = text.first, let next = text.dropFirst().first, next.isNumber {
            if sign == "+" { text = "plus " + text.dropFirst() }
            if sign == "-" { text = "minus " + text.dropFirst() }
        }
        return text.split { !isWordCharacter($0) }.map(String.init)
    }

    private static func isWordCharacter(_ character: Character) -> Bool {
        character.isLetter || character.isNumber && character.isWholeNumber
    }

    private static func capitalized(_ word: String) -> String {
        word.prefix(1).uppercased() + word.dropFirst()
    }

    /// `URLPath` is `urlPath`, and `ID` is `id`.
    private static func lowercasedStart(_ word: String) -> String {
        let capitals = word.prefix { $0.isUppercase }.count
        // `URLs` is `urls`.
        if capitals > 1, capitals == word.count - 1, word.last == "s" { return word.lowercased() }
        guard capitals > 1 else { return word.prefix(1).lowercased() + word.dropFirst() }
        if capitals == word.count { return word.lowercased() }
        // The last capital begins the next word.
        return word.prefix(capitals - 1).lowercased() + word.dropFirst(capitals - 1)
    }

    private static let keywords: Set<String> = [
        "Any", "Self", "as", "associatedtype", "break", "case", "catch", "class", "continue",
        "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal",
        "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
        "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Names of properties and cases that mean something else in a model, with backticks too.
    static let reservedMembers: Set<String> = [
        "Builder", "CodingKeys", "Protocol", "Self", "Type", "hashValue", "init",
        "modelIdentifier", "projectionIdentifier", "rawValue", "self",
    ]

    /// Names of types that the generated source uses, or that no type should hide.
    static let reservedTypes: Set<String> = [
        "Any", "AnyObject", "Array", "Bool", "Builder", "Character", "Codable",
        "CodingKey", "CodingKeys", "Data", "Date", "Decimal", "Decodable", "Decoder",
        "DecodingError", "Dictionary", "Discriminator", "Double", "Encodable", "Encoder",
        "Equatable", "Error",
        "Espalier", "EspalierModels", "EspalierNormalized", "EspalierRecords", "Field",
        "FieldValue", "Float", "Foundation", "Hashable", "Hasher", "Identifiable", "Int", "Int32",
        "Int64", "KeyPath", "MainActor", "Model", "ModelField", "Never", "NormalizedCache",
        "NormalizedModel", "Normalized", "NotStored", "Optional", "Protocol", "Range",
        "RawRepresentable", "RecordDecoder", "RecordEncoder", "Result", "Self", "Sendable", "Set",
        "Stored", "String", "Swift", "Task", "Type", "UInt", "UInt64", "URL", "UUID", "Void",
        "WritePolicy",
    ]
}

/// Hands out names, each of them once.
struct UniqueNames {
    private let reserved: Set<String>
    private let suffix: String
    private var taken: Set<String> = []

    /// - Parameters:
    ///   - reserved: The names that are never handed out.
    ///   - suffix: What is appended to a reserved name.
    init(reserved: Set<String>, suffix: String) {
        self.reserved = reserved
        self.suffix = suffix
    }

    /// Returns `name`, or `other` if it is taken or reserved; if that is taken, too, with a suffix
    /// or a number.
    mutating func take(_ name: String, orElse other: String? = nil) -> String {
        let candidates = [name, other].compactMap(\.self)
        let suffixed = candidates.map { reserved.contains($0) ? $0 + suffix : $0 }
        let last = suffixed.last ?? name
        let numbered = (2...).lazy.map { "\(last)\($0)" }
        let free =
            candidates.first { !taken.contains($0) && !reserved.contains($0) }
            ?? suffixed.first { !taken.contains($0) }
            ?? numbered.first { !taken.contains($0) } ?? last
        taken.insert(free)
        return free
    }
}
