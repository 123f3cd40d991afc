import Foundation

/// What all strings at a place of a sample are.
///
/// A string counts as a date, a URL or a UUID only if Foundation writes the same text again. A
/// model then gives back what it was made from, byte for byte.
struct TextFormat: OptionSet {
    let rawValue: UInt8

    static let date = TextFormat(rawValue: 1)
    static let url = TextFormat(rawValue: 2)
    static let uuid = TextFormat(rawValue: 4)
    static let all: TextFormat = [.date, .url, .uuid]

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The formats that a text has.
    init(of text: String) {
        self = []
        if Self.isDate(text) { insert(.date) }
        if Self.isURL(text) { insert(.url) }
        if text.utf8.count == 36, UUID(uuidString: text)?.uuidString == text { insert(.uuid) }
    }

    /// The type of strings with all of these formats.
    var type: ValueType {
        if contains(.date) { return .date }
        if contains(.uuid) { return .uuid }
        return contains(.url) ? .url : .string
    }

    /// Whether the text is what the strategy `.iso8601` reads and writes: `2013-01-10T07:58:30Z`.
    private static func isDate(_ text: String) -> Bool {
        guard text.utf8.count == 20, text.last == "Z",
            let date = try? Date(text, strategy: .iso8601)
        else { return false }
        return date.formatted(.iso8601) == text
    }

    /// Whether the text is a web address, and no template such as `gists{/id}`.
    private static func isURL(_ text: String) -> Bool {
        guard text.hasPrefix("https://") || text.hasPrefix("http://") else { return false }
        return URL(string: text)?.absoluteString == text
    }
}
