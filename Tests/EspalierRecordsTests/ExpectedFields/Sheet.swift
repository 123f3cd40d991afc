import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation

/// A model with any fields in any order, each of them present, nil or absent.
struct Sheet: NormalizedModel {
    enum Presence: CaseIterable { case present, null, absent }

    let id: String?
    var entries: [(field: SheetField, presence: Presence)]
    /// The list that the encoder expects; nil for no list.
    var expected: [SheetField]?
    var others: [Sheet] = []
    var projectionIdentifier = "Sheet"
    var modelIdentifier: String? { id }

    init(_ fields: [SheetField], id: String? = "s") {
        self.id = id
        entries = fields.map { ($0, .present) }
    }

    init(from decoder: inout RecordDecoder) throws { throw MissReason.notFound }

    func encode(to encoder: inout RecordEncoder) throws {
        if let expected {
            let list = NoFields.type(of: expected)
            encoder.expect(list, fields: expected.map(\.rawValue))
        }
        for (field, presence) in entries {
            switch presence {
            case .present: try field.encode(to: &encoder)
            case .null: try encoder.encode(String?.none, forKey: field.rawValue)
            case .absent: encoder.encodeAbsent(forKey: field.rawValue)
            }
        }
        if !others.isEmpty { try encoder.encode(others, forKey: "others") }
    }
}

/// Asks for fields of a sheet, one after the other.
struct SheetReader {
    var asked: [(field: SheetField, manner: SheetField.Manner)]

    init(_ fields: [SheetField], _ manner: SheetField.Manner) {
        asked = fields.map { ($0, manner) }
    }

    init(_ asked: [(SheetField, SheetField.Manner)]) { self.asked = asked }

    /// Returns the values as text. `expected` is the list that the decoder expects; nil for no
    /// list.
    func values(expecting expected: [SheetField]?, _ decoder: inout RecordDecoder) throws
        -> [String]
    {
        if let expected {
            let list = NoFields.type(of: expected)
            decoder.expect(list, fields: expected.map(\.rawValue))
        }
        var values: [String] = []
        for (field, manner) in asked { values.append(try field.decode(manner, from: &decoder)) }
        return values
    }
}

extension DictionaryRecordSource {
    /// Reads the record of a sheet by `reader`.
    func read(
        _ reader: SheetReader, of identifier: String = "s", expecting expected: [SheetField]?
    ) -> Result<[String], MissReason> {
        guard let handle = handle(of: identifier) else { return .failure(.notFound) }
        let treeReader = TreeReader(source: self)
        return treeReader.read(identifier) {
            try treeReader.entry(handle, identifier: identifier) {
                try $0.decodeModel([String].self) { try reader.values(expecting: expected, &$0) }
            }
        }
    }
}

/// The fields of a sheet. Every kind of value occurs, some kinds twice, so that a test sees values
/// that are swapped.
enum SheetField: String, CaseIterable {
    case text, motto, note, number, rank, ratio, flag, date, tag, child

    /// A type that is `Codable` but no `FieldValue`.
    struct Tag: Codable, Equatable { var text = "tagged", weight = 3 }

    /// How a field is asked for.
    enum Manner: CaseIterable { case required, optional, defaulted, lenient, retried }

    private enum Text: FieldList {}
    private enum Motto: FieldList {}
    private enum Note: FieldList {}
    private enum Number: FieldList {}
    private enum Rank: FieldList {}
    private enum Ratio: FieldList {}
    private enum Flag: FieldList {}
    private enum Day: FieldList {}
    private enum Tagged: FieldList {}
    private enum Child: FieldList {}

    var type: any FieldList.Type {
        switch self {
        case .text: Text.self
        case .motto: Motto.self
        case .note: Note.self
        case .number: Number.self
        case .rank: Rank.self
        case .ratio: Ratio.self
        case .flag: Flag.self
        case .date: Day.self
        case .tag: Tagged.self
        case .child: Child.self
        }
    }

    func encode(to encoder: inout RecordEncoder) throws {
        switch self {
        case .text: try encoder.encode("a text", forKey: rawValue)
        case .motto:
            try encoder.encode("a motto, which takes more bytes than a text", forKey: rawValue)
        case .note: try encoder.encode(String?.some("a note"), forKey: rawValue)
        case .number: try encoder.encode(300, forKey: rawValue)
        case .rank: try encoder.encode(-5, forKey: rawValue)
        case .ratio: try encoder.encode(0.75, forKey: rawValue)
        case .flag: try encoder.encode(true, forKey: rawValue)
        case .date:
            try encoder.encode(Date(timeIntervalSinceReferenceDate: 700.5), forKey: rawValue)
        case .tag: try encoder.encode(Tag(), forKey: rawValue)
        case .child: try encoder.encode(Leaf("leaf", "of a sheet"), forKey: rawValue)
        }
    }

    /// Returns the value of the field as text.
    func decode(_ manner: Manner, from decoder: inout RecordDecoder) throws -> String {
        switch manner {
        case .required: try required(&decoder)
        case .optional: try optional(&decoder)
        case .defaulted: try defaulted(&decoder)
        case .lenient: (try? required(&decoder)) ?? "none of \(rawValue)"
        case .retried: try retried(&decoder)
        }
    }

    private func required(_ decoder: inout RecordDecoder) throws -> String {
        switch self {
        case .text, .motto: try decoder.decode(String.self, forKey: rawValue)
        case .note: "\(try decoder.decode(String?.self, forKey: rawValue) ?? "no note")"
        case .number, .rank: "\(try decoder.decode(Int.self, forKey: rawValue))"
        case .ratio: "\(try decoder.decode(Double.self, forKey: rawValue))"
        case .flag: "\(try decoder.decode(Bool.self, forKey: rawValue))"
        case .date:
            "\(try decoder.decode(Date.self, forKey: rawValue).timeIntervalSinceReferenceDate)"
        case .tag: "\(try decoder.decode(Tag.self, forKey: rawValue))"
        case .child: "\(try decoder.decode(Leaf.self, forKey: rawValue))"
        }
    }

    private func optional(_ decoder: inout RecordDecoder) throws -> String {
        switch self {
        case .text, .motto, .note: "\(try decoder.decode(String?.self, forKey: rawValue) as Any)"
        case .number, .rank: "\(try decoder.decode(Int?.self, forKey: rawValue) as Any)"
        case .ratio: "\(try decoder.decode(Double?.self, forKey: rawValue) as Any)"
        case .flag: "\(try decoder.decode(Bool?.self, forKey: rawValue) as Any)"
        case .date: "\(try decoder.decode(Date?.self, forKey: rawValue) as Any)"
        case .tag: "\(try decoder.decode(Tag?.self, forKey: rawValue) as Any)"
        case .child: "\(try decoder.decode(Leaf?.self, forKey: rawValue) as Any)"
        }
    }

    private func defaulted(_ decoder: inout RecordDecoder) throws -> String {
        switch self {
        case .text, .motto: try decoder.decode(forKey: rawValue, default: "default of \(rawValue)")
        case .note:
            "\(try decoder.decode(String?.self, forKey: rawValue, default: "default note") as Any)"
        case .number, .rank: "\(try decoder.decode(Int.self, forKey: rawValue, default: 1))"
        case .ratio: "\(try decoder.decode(Double.self, forKey: rawValue, default: 1))"
        case .flag: "\(try decoder.decode(Bool.self, forKey: rawValue, default: false))"
        case .date: "\(try decoder.decode(Date.self, forKey: rawValue, default: .distantPast))"
        case .tag:
            "\(try decoder.decode(Tag.self, forKey: rawValue, default: Tag(text: "", weight: 0)))"
        case .child: "\(try decoder.decode(Leaf.self, forKey: rawValue, default: Leaf("default")))"
        }
    }

    /// Decodes the field as another type, then as its own.
    private func retried(_ decoder: inout RecordDecoder) throws -> String {
        let other =
            switch self {
            case .text, .motto, .note, .tag, .child:
                (try? decoder.decode(Int.self, forKey: rawValue))?.description
            case .ratio, .flag: (try? decoder.decode(Tag.self, forKey: rawValue))?.text
            case .number, .rank, .date: try? decoder.decode(String.self, forKey: rawValue)
            }
        return "\(other as Any), \((try? required(&decoder)) as Any)"
    }
}

/// A list of fields as a type: a type has one list of expected fields.
protocol FieldList {}

/// The list of no fields.
enum NoFields: FieldList {}

/// A list with one more field.
enum OneMore<Field: FieldList, Rest: FieldList>: FieldList {}

extension FieldList where Self == NoFields {
    /// Returns the type that stands for `fields`.
    static func type(of fields: [SheetField]) -> any FieldList.Type {
        var list: any FieldList.Type = NoFields.self
        for field in fields { list = join(field.type, list) }
        return list
    }

    private static func join<Field: FieldList, Rest: FieldList>(
        _ field: Field.Type, _ rest: Rest.Type
    ) -> any FieldList.Type { OneMore<Field, Rest>.self }
}
