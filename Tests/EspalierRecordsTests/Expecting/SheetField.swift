import EspalierModels
import EspalierRecords
import Foundation

/// The fields of a sheet: of every kind, some of one kind, so that values that are swapped show.
enum SheetField: String, CaseIterable {
    case text, motto, note, number, rank, ratio, flag, date, tag, child

    /// `Codable` and no `FieldValue`.
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

    /// What the field comes to, as text.
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
            "\(try decoder.decode(Tag.self, forKey: rawValue, default: Tag(text: "default", weight: 0)))"
        case .child: "\(try decoder.decode(Leaf.self, forKey: rawValue, default: Leaf("default")))"
        }
    }

    /// As a type that it is not, then as it is.
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
