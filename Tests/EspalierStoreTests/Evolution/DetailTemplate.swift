import Foundation

/// What a miss says, as the document has it: an ellipsis stands for what differs from type to type.
struct DetailTemplate: Hashable {
    private let text: String

    /// - Parameter cell: the template in backquotes.
    init(_ cell: String) { text = cell.trimmingCharacters(in: CharacterSet(charactersIn: "`")) }

    func matches(_ detail: String) -> Bool {
        let pattern = text.components(separatedBy: "\u{2026}").map(
            NSRegularExpression.escapedPattern(for:)
        )
        .joined(separator: ".+")
        return detail.range(of: "^\(pattern)$", options: .regularExpression) != nil
    }
}
