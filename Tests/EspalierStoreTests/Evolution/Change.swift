import EspalierModels
import EspalierRecords
import Testing

/// A row of the table in `docs/SCHEMA.md`: one change of a model, by both kinds of models.
struct Change: Sendable, CustomTestStringConvertible {
    let name: String
    private let codable: @Sendable () throws -> Observation
    private let handWritten: (@Sendable () throws -> Observation)?

    var testDescription: String { name }

    /// Of a change that only `Codable` models know.
    init(_ name: String, _ old: some Versioned, _ new: some Versioned) {
        self.name = name
        codable = { try Observation(from: old, to: new) }
        handWritten = nil
    }

    init(
        _ name: String, _ old: some Versioned, _ new: some Versioned,
        handWritten oldByHand: some Versioned, _ newByHand: some Versioned
    ) {
        self.name = name
        codable = { try Observation(from: old, to: new) }
        handWritten = { try Observation(from: oldByHand, to: newByHand) }
    }

    /// Of a change of the field `value`.
    init<Old, New>(
        _ name: String, _ old: some VersionedValue, _ new: some VersionedValue,
        byHand oldValue: Old, _ newValue: New
    ) where Old: FieldValue & Sendable & Equatable, New: FieldValue & Sendable & Equatable {
        self.init(
            name, old, new, handWritten: HandWritten.Message(value: oldValue),
            HandWritten.Message(value: newValue))
    }

    func observe() throws -> (codable: Observation, handWritten: Observation?) {
        (try codable(), try handWritten?())
    }

    /// The row, as it has to stand in the document.
    func row() throws -> String {
        let (codable, handWritten) = try observe()
        let cells = zip(codable.cells, handWritten?.cells ?? codable.cells).map {
            codable, handWritten in
            codable == handWritten ? codable : "`Codable`: \(codable); by hand: \(handWritten)"
        }
        return "| " + ([name] + cells).joined(separator: " | ") + " |"
    }
}
