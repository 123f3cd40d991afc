/// The records of an export as rows.
enum ExportTable {
    static let columns: [Report.Column] = [
        .left("kind"), .left("identifier"), .left("types"), .right("references"), .left("fields"),
    ]

    /// `references` is how often the record refers to another.
    static func row(_ line: RecordLine, references: Int) -> [Cell] {
        let types: [String] = if case .node(let types, _, _) = line.content { types } else { [] }
        return [
            .text(line.kind.rawValue), .text(line.identifier, .name), .texts(types),
            .count(references),
            .text(JSONWriter().string(from: line.contentJSON)),
        ]
    }
}
