import EspalierModels
import EspalierRecords
import EspalierTestSupport

/// A model with any fields in any order; each is there, nil or absent.
struct Sheet: NormalizedModel {
    enum Presence: CaseIterable { case present, null, absent }

    let id: String?
    var entries: [(field: SheetField, presence: Presence)]
    /// What the encoder is told to expect; nothing if nil.
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

    /// What they come to. `expected` is what the decoder is told to expect; nothing if nil.
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
    /// The record of a sheet, read by `reader`.
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
