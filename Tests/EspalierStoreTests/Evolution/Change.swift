import EspalierModels
import EspalierRecords
import Foundation
import Testing

/// A row of the table in `docs/SCHEMA.md`: one change of a model, made to a `Codable` and to a
/// hand-written model.
struct Change: Sendable, CustomTestStringConvertible {
    let name: String
    private let codable: @Sendable () throws -> Observation
    private let handWritten: (@Sendable () throws -> Observation)?

    var testDescription: String { name }

    /// Creates a change that only `Codable` models can have.
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

    /// Creates a change of the field `value`.
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

    /// Returns the row as the document must contain it.
    func row() throws -> String {
        let (codable, handWritten) = try observe()
        let cells = zip(codable.cells, handWritten?.cells ?? codable.cells).map {
            codable, handWritten in
            codable == handWritten ? codable : "`Codable`: \(codable); by hand: \(handWritten)"
        }
        return "| " + ([name] + cells).joined(separator: " | ") + " |"
    }
}

extension Change {
    /// Fields that are added, removed and renamed.
    static let fields: [Change] = [
        Change(
            "optional field added", CodableText.Message(), CodableOptionalMood.Message(),
            handWritten: HandWrittenText.Message(), HandWrittenOptionalMood.Message()),
        Change(
            "required field added", CodableText.Message(), CodableMood.Message(mood: "calm"),
            handWritten: HandWrittenText.Message(), HandWrittenMood.Message()),
        Change(
            "field added, `var mood = \"glad\"` in a `Codable` type", CodableText.Message(),
            CodableInitialMood.Message(mood: "calm")),
        Change(
            "field added, read as an optional `?? \"glad\"`", CodableText.Message(),
            CodableDefaultMood.Message(),
            handWritten: HandWrittenText.Message(), HandWrittenDefaultMood.Message()),
        Change(
            "optional field removed", CodableOptionalMood.Message(), CodableText.Message(),
            handWritten: HandWrittenOptionalMood.Message(), HandWrittenText.Message()),
        Change(
            "required field removed", CodableMood.Message(mood: "calm"), CodableText.Message(),
            handWritten: HandWrittenMood.Message(), HandWrittenText.Message()),
        Change(
            "required field renamed", CodableText.Message(), CodableBody.Message(),
            handWritten: HandWrittenText.Message(), HandWrittenBody.Message()),
        Change(
            "field renamed and made optional", CodableText.Message(), CodableOptionalBody.Message(),
            handWritten: HandWrittenText.Message(), HandWrittenOptionalBody.Message()),
        Change(
            "field renamed, the key kept", CodableText.Message(), CodableKeyedBody.Message(),
            handWritten: HandWrittenText.Message(), HandWrittenKeyedBody.Message()),
        Change(
            "type renamed, optional field removed", CodableOptionalMood.Message(),
            CodableRenamed.Note(),
            handWritten: HandWrittenOptionalMood.Message(), HandWrittenRenamed.Note()),
        Change(
            "the same, the old `projectionIdentifier` kept", CodableOptionalMood.Message(),
            CodableRenamedProperly.Note(),
            handWritten: HandWrittenOptionalMood.Message(), HandWrittenRenamedProperly.Note()),
    ]
}

extension Change {
    /// Fields that change their type.
    static let values: [Change] = numbers + others

    private static let numbers: [Change] = [
        Change(
            "`Int` to `Double`", OfInt.Message(value: 7), OfDouble.Message(value: 7), byHand: 7, 7.0
        ),
        Change(
            "`Int` to `Double`, beyond 2^53", OfInt.Message(value: 1 << 53 + 1),
            OfDouble.Message(value: 0.5),
            byHand: 1 << 53 + 1, 0.5),
        Change(
            "`Int8` to `Int`, it fits", OfInt8.Message(value: 7), OfInt.Message(value: 8),
            byHand: Int8(7), 8),
        Change(
            "`Int8` to `Int`, it does not fit back", OfInt8.Message(value: 7),
            OfInt.Message(value: 300),
            byHand: Int8(7), 300),
        Change(
            "`Int` to `UInt`, below 0", OfInt.Message(value: -7), OfUInt.Message(value: .max),
            byHand: -7, UInt.max),
        Change(
            "`Float` to `Double`, exact", OfFloat.Message(value: 0.5),
            OfDouble.Message(value: 0.25),
            byHand: Float(0.5), 0.25),
        Change(
            "`Float` to `Double`, not exact", OfFloat.Message(value: 0.1),
            OfDouble.Message(value: 0.1),
            byHand: Float(0.1), 0.1),
        Change(
            "`Double` to `Decimal`", OfDouble.Message(value: 0.5),
            OfDecimal.Message(value: Decimal(5)),
            byHand: 0.5, Decimal(5)),
        Change(
            "`Int` to `Decimal`", OfInt.Message(value: 7), OfDecimal.Message(value: Decimal(8)),
            byHand: 7, Decimal(8)),
        Change(
            "`Int` to `Bool`", OfInt.Message(value: 1), OfBool.Message(value: true), byHand: 1, true
        ),
        Change(
            "`Int` to `String`", OfInt.Message(value: 7), OfString.Message(value: "8"), byHand: 7,
            "8"),
        Change(
            "`Int` to `Date`", OfInt.Message(value: 7), OfDate.Message(value: second), byHand: 7,
            second),
    ]

    private static let second = Date(timeIntervalSinceReferenceDate: 1)
    private static let link = URL(filePath: "/cat")
    private static let number = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private static let others: [Change] = [
        Change(
            "`Double` to `Date`", OfDouble.Message(value: 7), OfDate.Message(value: second),
            byHand: 7.0, second),
        Change(
            "`String` to `Date`", OfString.Message(value: "2001-01-01"),
            OfDate.Message(value: second),
            byHand: "2001-01-01", second),
        Change(
            "`String` to `URL`", OfString.Message(value: "cat.jpeg"), OfURL.Message(value: link),
            byHand: "cat.jpeg", link),
        Change(
            "`String` to `URL`, no URL", OfString.Message(value: "http://["),
            OfURL.Message(value: link),
            byHand: "http://[", link),
        Change(
            "`String` to a struct with a raw value", OfString.Message(value: "a"),
            OfTag.Message(value: CodableTag(rawValue: "b")), byHand: "a",
            HandWrittenTag(rawValue: "b")),
        Change(
            "`String` to `UUID`", OfString.Message(value: "\(number)"),
            OfUUID.Message(value: number),
            byHand: "\(number)", number),
        Change(
            "`String` to `UUID`, no UUID", OfString.Message(value: "Ada"),
            OfUUID.Message(value: number),
            byHand: "Ada", number),
        Change(
            "`Data` to `UUID`, 16 bytes", OfData.Message(value: Data(repeating: 7, count: 16)),
            OfUUID.Message(value: number), byHand: Data(repeating: 7, count: 16), number),
        Change(
            "`Data` to `UUID`, other than 16 bytes", OfData.Message(value: Data([1, 2])),
            OfUUID.Message(value: number), byHand: Data([1, 2]), number),
        Change(
            "`String` to `Data`", OfString.Message(value: "abc"),
            OfData.Message(value: Data([1, 2])),
            byHand: "abc", Data([1, 2])),
        Change(
            "made optional", OfInt.Message(value: 7), OfOptionalInt.Message(value: 8), byHand: 7,
            Int?.some(8)),
        Change(
            "made optional, nil", OfInt.Message(value: 7), OfOptionalInt.Message(value: nil),
            byHand: 7, Int?.none),
        Change(
            "made required", OfOptionalInt.Message(value: 7), OfInt.Message(value: 8),
            byHand: Int?.some(7), 8),
        Change(
            "made required, nil", OfOptionalInt.Message(value: nil), OfInt.Message(value: 8),
            byHand: Int?.none, 8),
        Change(
            "one to several", OfInt.Message(value: 7), OfInts.Message(value: [8]), byHand: 7, [8]),
        Change(
            "several to one", OfInts.Message(value: [7]), OfInt.Message(value: 8), byHand: [7], 8),
        Change(
            "element of an array: `Int` to `String`", OfInts.Message(value: [7]),
            OfStrings.Message(value: ["8"]),
            byHand: [7], ["8"]),
        Change(
            "array to set", OfStrings.Message(value: ["a", "a"]), OfStringSet.Message(value: ["b"]),
            byHand: ["a", "a"], ["b"] as Set),
    ]
}

extension Change {
    private typealias Node = HandWrittenNode
    private typealias Inline = HandWrittenInline

    /// Changes of enums.
    static let enums: [Change] = [
        Change(
            "`String` to enum", OfString.Message(value: "calm"), OfMood.Message(value: .glad),
            byHand: "calm", HandWrittenV1.Mood.glad),
        Change(
            "`String` to enum, no case of it", OfString.Message(value: "wild"),
            OfMood.Message(value: .glad),
            byHand: "wild", HandWrittenV1.Mood.glad),
        Change(
            "case added", OfMood.Message(value: .calm), OfMoreMoods.Message(value: .wild),
            byHand: HandWrittenV1.Mood.calm, HandWrittenV2.Mood.wild),
        Change(
            "case added, in a list", OfMoodList.Message(value: [.calm]),
            OfMoreMoodList.Message(value: [.calm, .wild]),
            byHand: [HandWrittenV1.Mood.calm], [HandWrittenV2.Mood.calm, .wild]),
        Change(
            "case added, the old version has a case `unknown`", OfOpenMood.Message(value: .calm),
            OfMoreMoods.Message(value: .wild),
            byHand: HandWrittenOpen.Mood.calm, HandWrittenV2.Mood.wild),
        Change(
            "case with values added", OfContent.Message(value: .text("Meow")),
            OfMoreContent.Message(value: .video(link: "cat")),
            byHand: HandWrittenV1.Content.text("Meow"), HandWrittenV2.Content.video(link: "cat")),
        Change(
            "optional value added to a case", OfContent.Message(value: .image(link: "cat")),
            OfMoreContent.Message(value: .image(link: "cat", caption: "Meow")),
            byHand: HandWrittenV1.Content.image(link: "cat"),
            HandWrittenV2.Content.image(link: "cat", caption: "Meow")),
        Change(
            "value of a case: `String` to `Int`", OfContent.Message(value: .image(link: "cat")),
            OfNumberedContent.Message(value: .image(link: 7)),
            byHand: HandWrittenV1.Content.image(link: "cat"), HandWrittenV3.Content.image(link: 7)),
    ]

    /// Changes of children.
    static let children: [Change] = [
        Change(
            "node becomes an inline struct", OfNode.Message(value: .init()),
            OfInline.Message(value: .init(name: "Bo")),
            byHand: Node.Person(), Inline.Person(name: "Bo")),
        Change(
            "inline struct becomes a node", OfInline.Message(value: .init()),
            OfNode.Message(value: .init(name: "Bo")),
            byHand: Inline.Person(), Node.Person(name: "Bo")),
        Change(
            "inline struct becomes a node, read by a `nestedContainer`", OfNested.Message(),
            OfNode.Message(value: .init(name: "Bo"))),
        Change(
            "dictionary to inline struct", OfDictionary.Message(value: ["name": "Ada"]),
            OfName.Message(value: .init()), byHand: ["name": "Ada"], Inline.Name()),
        Change(
            "reference made optional", OfNode.Message(value: .init()),
            OfOptionalNode.Message(value: .init(name: "Bo")),
            byHand: Node.Person(), Node.Person?.some(Node.Person(name: "Bo"))),
        Change(
            "reference made optional, nil", OfNode.Message(value: .init()),
            OfOptionalNode.Message(value: nil),
            byHand: Node.Person(), Node.Person?.none),
        Change(
            "one node to several", OfNode.Message(value: .init()),
            OfNodes.Message(value: [.init(name: "Bo")]),
            byHand: Node.Person(), [Node.Person(name: "Bo")]),
        Change(
            "several nodes to one", OfNodes.Message(value: [.init()]),
            OfNode.Message(value: .init(name: "Bo")),
            byHand: [Node.Person()], Node.Person(name: "Bo")),
        Change(
            "node of another type", OfNode.Message(value: .init()),
            OfCompany.Message(value: .init()),
            byHand: Node.Person(), Node.Company()),
        Change(
            "node to its identifier", OfNode.Message(value: .init()),
            OfString.Message(value: "Person:1"),
            byHand: Node.Person(), "Person:1"),
    ]

    /// All changes, in the order of the document.
    static let all = fields + values + enums + children
}
