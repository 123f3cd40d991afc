import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Encoders that expect fields")
struct ExpectedWritingTests {
    /// Expects the same records of the same shapes as without a list.
    private func expectSame(_ sheets: [Sheet], _ what: String) throws {
        var top = Sheet([.text], id: "top")
        top.projectionIdentifier = "Top"
        top.others = sheets
        var plain = top
        plain.others = sheets.map { sheet in
            var sheet = sheet
            sheet.expected = nil
            return sheet
        }
        let (expecting, plainly) = (DictionaryRecordSource(), DictionaryRecordSource())
        // Twice: the second time other types have expected other fields in between.
        for _ in 0..<2 {
            try expecting.store(top)
            try plainly.store(plain)
        }
        #expect(expecting.shapes == plainly.shapes, "\(what)")
        #expect(expecting.records == plainly.records, "\(what)")
    }

    private func sheet(
        _ number: Int, _ fields: [SheetField], expecting list: [SheetField], as type: String
    ) -> Sheet {
        var sheet = Sheet(fields, id: "s\(number)")
        sheet.expected = list
        sheet.projectionIdentifier = type
        return sheet
    }

    private static let fields: [SheetField] = [.text, .motto, .number, .tag]

    @Test("Two types with one list write the same records as without it, in turns")
    func twoTypes() throws {
        let sheets = (0..<8).map {
            sheet($0, Self.fields, expecting: Self.fields, as: $0 % 3 == 0 ? "A" : "B")
        }
        try expectSame(sheets, "in turns")
    }

    @Test("Two types with one name and different orders write the same records as without a list")
    func namesakes() throws {
        let sheets = (0..<8).map { number in
            let fields = number % 2 == 0 ? Self.fields : Self.fields.reversed()
            return sheet(number, fields, expecting: fields, as: "A")
        }
        try expectSame(sheets, "in turns")
    }

    @Test("A list that is shorter than the encoded fields changes no record", arguments: 0...3)
    func shorter(count: Int) throws {
        let list = Array(Self.fields.prefix(count))
        try expectSame((0..<4).map { sheet($0, Self.fields, expecting: list, as: "A") }, "\(count)")
        // Beside records that are no longer than the list.
        try expectSame(
            (0..<8).map { sheet($0, $0 % 3 == 0 ? Self.fields : list, expecting: list, as: "A") },
            "\(count), mixed")
    }

    @Test("A list that is longer than the encoded fields changes no record", arguments: 0...3)
    func longer(count: Int) throws {
        let encoded = Array(Self.fields.prefix(count))
        try expectSame(
            (0..<4).map { sheet($0, encoded, expecting: Self.fields, as: "A") }, "\(count)")
        try expectSame(
            (0..<8).map {
                sheet($0, $0 % 3 == 0 ? encoded : Self.fields, expecting: Self.fields, as: "A")
            },
            "\(count), mixed")
    }

    @Test("A list in an inline model changes no record")
    func inline() throws {
        let sheets = (0..<4).map { number in
            var sheet = Sheet(Self.fields, id: nil)
            sheet.expected = Self.fields
            var node = self.sheet(number, [.rank], expecting: [.rank], as: "A")
            node.others = [sheet, sheet]
            return node
        }
        try expectSame(sheets, "inline")
    }

    @Test("A list with absent and nil fields changes no record")
    func absent() throws {
        for presence in Sheet.Presence.allCases {
            let sheets = (0..<6).map { number in
                var sheet = sheet(number, Self.fields, expecting: Self.fields, as: "A")
                sheet.entries[number % Self.fields.count].presence = presence
                return sheet
            }
            try expectSame(sheets, "\(presence)")
        }
    }

    @Test(
        "Random lists of the encoded fields, or of the first of them, change no record",
        arguments: 1...8 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<60 {
            let kinds = (0..<3).map { kind in
                let fields = Array(SheetField.allCases.shuffled(using: &random).prefix(4))
                return (fields: fields, type: kind == 0 ? "A" : "B")
            }
            let sheets = (0..<10).compactMap { number -> Sheet? in
                guard let kind = kinds.randomElement(using: &random) else { return nil }
                let isCut = Int.random(in: 0..<4, using: &random) == 0
                let encoded = isCut ? Array(kind.fields.dropLast()) : kind.fields
                var sheet = sheet(number, encoded, expecting: kind.fields, as: kind.type)
                for index in sheet.entries.indices where Int.random(in: 0..<6, using: &random) == 0
                {
                    sheet.entries[index].presence = .absent
                }
                return sheet
            }
            try expectSame(sheets, "round \(round): \(sheets)")
        }
    }
}
