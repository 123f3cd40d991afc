/// The part of a text that a table shows of it: what was found, and a little of what stands around
/// it.
enum Excerpt {
    private static let before = 12
    private static let length = 72

    static func text(of text: String, around found: Range<String.Index>?) -> String {
        let found = found ?? text.startIndex..<text.startIndex
        let start = text[..<found.lowerBound].suffix(before).startIndex
        let shown = text[start...].prefix(length)
        return (start > text.startIndex ? "…" : "") + shown
            + (shown.endIndex < text.endIndex ? "…" : "")
    }
}
