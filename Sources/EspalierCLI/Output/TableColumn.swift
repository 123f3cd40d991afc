/// The title of a column, and the side its cells keep to: text left, numbers right.
struct TableColumn: Sendable {
    let title: String
    let alignment: Alignment

    enum Alignment: Sendable {
        case left, right
    }

    static func left(_ title: String) -> TableColumn {
        TableColumn(title: title, alignment: .left)
    }

    static func right(_ title: String) -> TableColumn {
        TableColumn(title: title, alignment: .right)
    }
}

extension TableColumn.Alignment {
    /// `cell` with spaces up to `width` terminal columns.
    func pad(_ cell: String, to width: Int) -> String {
        let spaces = String(repeating: " ", count: max(0, width - cell.terminalColumns))
        return switch self {
        case .left: cell + spaces
        case .right: spaces + cell
        }
    }
}
