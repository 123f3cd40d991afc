import Foundation

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
