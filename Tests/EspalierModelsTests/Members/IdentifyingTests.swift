import EspalierModels
import Foundation
import Testing

@Suite("Every usual kind of id has a text")
struct IdentifyingTests {
    struct Raw: RawRepresentable { let rawValue: Int }
    struct RawText: RawRepresentable { let rawValue: String }
    struct RawSubstring: RawRepresentable { let rawValue: Substring }
    struct RawUUID: RawRepresentable { let rawValue: UUID }
    struct Nested: RawRepresentable { let rawValue: Raw }
    enum Kind: String { case first }
    enum Number: Int { case one = 1 }
    struct Lossless: LosslessStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
    struct Both: RawRepresentable, LosslessStringConvertible {
        let rawValue: Int
        init(rawValue: Int) { self.rawValue = rawValue }
        init?(_ description: String) { nil }
        var description: String { "both-\(rawValue)" }
    }

    struct BothUUID: RawRepresentable, LosslessStringConvertible {
        let rawValue: UUID
        init(rawValue: UUID) { self.rawValue = rawValue }
        init?(_ description: String) { nil }
        var description: String { "both" }
    }
    struct BothNested: RawRepresentable, LosslessStringConvertible {
        let rawValue: Raw
        init(rawValue: Raw) { self.rawValue = rawValue }
        init?(_ description: String) { nil }
        var description: String { "both" }
    }

    static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xFF))
    static let uuidText = "01020304-0506-0708-090A-0B0C0D0E0FFF"

    @Test("Every supported id type gives a text")
    func plain() {
        let texts: [String] = [
            ModelMembers.identifier(of: 7), ModelMembers.identifier(of: UInt8(7)),
            ModelMembers.identifier(of: "a"),
            ModelMembers.identifier(of: "ab".dropFirst()),
            ModelMembers.identifier(of: Raw(rawValue: 7)),
            ModelMembers.identifier(of: RawText(rawValue: "a")),
            ModelMembers.identifier(of: RawSubstring(rawValue: "ab".dropFirst())),
            ModelMembers.identifier(of: RawUUID(rawValue: Self.uuid)),
            ModelMembers.identifier(of: Self.uuid),
            ModelMembers.identifier(of: Nested(rawValue: Raw(rawValue: 7))),
            ModelMembers.identifier(of: Kind.first),
            ModelMembers.identifier(of: Number.one), ModelMembers.identifier(of: Lossless("l")),
            ModelMembers.identifier(of: Both(rawValue: 1)),
            ModelMembers.identifier(of: BothUUID(rawValue: Self.uuid)),
            ModelMembers.identifier(of: BothNested(rawValue: Raw(rawValue: 1))),
        ]
        #expect(
            texts == [
                "7", "7", "a", "b", "7", "a", "b", Self.uuidText, Self.uuidText, "7", "first", "1",
                "l", "both-1",
                "both",
                "both",
            ])
    }

    @Test("An id inside a string interpolation has the same text, without Optional")
    func interpolated() {
        #expect("Message:\(ModelMembers.identifier(of: 7))" == "Message:7")
        #expect("Message:\(ModelMembers.identifier(of: Raw(rawValue: 7)))" == "Message:7")
        #expect("Message:\(ModelMembers.identifier(of: Both(rawValue: 7)))" == "Message:both-7")
        #expect("Message:\(ModelMembers.identifier(of: Self.uuid))" == "Message:\(Self.uuidText)")
    }

    @Test("An id that becomes an optional identifier keeps its text")
    func whole() {
        let texts: [String?] = [
            ModelMembers.identifier(of: 7), ModelMembers.identifier(of: "a"),
            ModelMembers.identifier(of: Self.uuid),
            ModelMembers.identifier(of: Raw(rawValue: 7)),
            ModelMembers.identifier(of: Both(rawValue: 1)),
            ModelMembers.identifier(of: RawUUID(rawValue: Self.uuid)),
            ModelMembers.identifier(of: BothUUID(rawValue: Self.uuid)),
            ModelMembers.identifier(of: Nested(rawValue: Raw(rawValue: 7))),
        ]
        #expect(texts == ["7", "a", Self.uuidText, "7", "both-1", Self.uuidText, "both", "7"])
    }

    @Test("An optional id gives a text or nil")
    func optional() {
        let texts: [String?] = [
            ModelMembers.identifier(of: Optional(7)), ModelMembers.identifier(of: Int?.none),
            ModelMembers.identifier(of: Optional("a")),
            ModelMembers.identifier(of: Optional(Self.uuid)),
            ModelMembers.identifier(of: UUID?.none),
            ModelMembers.identifier(of: Optional(Raw(rawValue: 7))),
            ModelMembers.identifier(of: Optional(Both(rawValue: 1))),
            ModelMembers.identifier(of: Optional(RawUUID(rawValue: Self.uuid))),
            ModelMembers.identifier(of: Optional(BothUUID(rawValue: Self.uuid))),
        ]
        #expect(texts == ["7", nil, "a", Self.uuidText, nil, "7", "both-1", Self.uuidText, "both"])
    }

    @Test("The name of a type is the innermost name with its generic arguments")
    func names() {
        #expect(ModelMembers.typeName(of: Pin.self) == "Pin")
        #expect(ModelMembers.typeName(of: Framed<Pin>.self) == "Framed<Pin>")
        #expect(ModelMembers.typeName(of: Framed<Framed<Pin>>.self) == "Framed<Framed<Pin>>")
        #expect(ModelMembers.typeName(of: IdentifyingTests.Raw.self) == "Raw")
    }
}
