/// How a piece of text stands out on a terminal.
enum TextStyle: Sendable, Equatable {
    case plain, title, faint, name, good, warning, bad

    /// The parameters of the terminal's SGR sequence; the sixteen colours follow the user's theme.
    fileprivate var parameters: String? {
        switch self {
        case .plain: nil
        case .title: "1"
        case .faint: "2"
        case .name: "36"
        case .good: "32"
        case .warning: "33"
        case .bad: "31"
        }
    }
}

/// Paints text, or leaves it plain.
struct Palette: Sendable {
    let isColored: Bool

    static let plain = Palette(isColored: false)

    func paint(_ text: String, _ style: TextStyle) -> String {
        guard isColored, !text.isEmpty, let parameters = style.parameters else { return text }
        return "\u{1B}[\(parameters)m\(text)\u{1B}[0m"
    }
}
