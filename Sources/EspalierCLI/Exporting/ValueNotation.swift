import EspalierRecords
import EspalierStore
import Foundation

/// Stored values as JSON that says everything: plain where JSON can, else an object with one
/// member, a mark.
///
///     {"$ref":"User:2"}      a reference               {"$bytes":"AAEC"}            bytes, in Base64
///     {"$deleted":1}         one to a deleted record   {"$decimal":"0.10"}          digits
///     {"$lost":1}            one to nothing readable   {"$int128":"-5"}             128 bits; $uint128
///     {"$absent":true}       never set                 {"$float":"0.1"}             32 bits, also nan, inf, -inf
///     {"$map":[[1,"one"]]}   keys JSON has no names    {"$double":"nan"}            64 bits that are no number
///                            for, or that start with $
///
/// A number with a fraction or an exponent is 64 bits of floating point, one without is an integer.
enum ValueNotation {
    enum Mark: String, CaseIterable {
        case reference = "$ref"
        case deleted = "$deleted"
        case lost = "$lost"
        case absent = "$absent"
        case bytes = "$bytes"
        case decimal = "$decimal"
        case int128 = "$int128"
        case uint128 = "$uint128"
        case float = "$float"
        case double = "$double"
        case map = "$map"

        func json(_ value: JSONValue) -> JSONValue {
            .object([JSONMember(name: rawValue, value: value)])
        }
    }

    /// Values are imported as deep as the tool can read them again: what its deepest document
    /// holds, and a scalar in that.
    static let maximumDepth = JSONParser.defaultMaximumDepth + 1

    /// A map that is written with a mark is three levels of JSON.
    static let maximumJSONDepth = maximumDepth * 3 + 8

    static func json(_ value: RecordValue, reference: (Int) throws -> JSONValue) rethrows
        -> JSONValue
    {
        switch value {
        case .absent: Mark.absent.json(true)
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .integer(let number): .number(.int(number))
        case .unsigned(let number): .number(.uint(number))
        case .float(let number):
            Mark.float.json(
                .string(text(number, bits: number.bitPattern, ofNaN: Float.nan.bitPattern)))
        case .double(let number) where number.isFinite: .number(.double(number))
        case .double(let number):
            Mark.double.json(
                .string(text(number, bits: number.bitPattern, ofNaN: Double.nan.bitPattern)))
        case .string(let text): .string(text)
        case .bytes(let bytes): Mark.bytes.json(.string(Data(bytes).base64EncodedString()))
        // Never plain: programs that know 64 bits only would change it.
        case .decimal(let digits): Mark.decimal.json(.string(digits))
        case .wide(let high, let low, signed: true):
            Mark.int128.json(.string(String(Int128(Int64(bitPattern: high)) << 64 | Int128(low))))
        case .wide(let high, let low, signed: false):
            Mark.uint128.json(.string(String(UInt128(high) << 64 | UInt128(low))))
        case .array(let elements): .array(try elements.map { try json($0, reference: reference) })
        case .map(let entries): try json(entries, reference: reference)
        case .child(let ordinal): try reference(ordinal)
        }
    }

    private static func json(
        _ entries: [RecordValue.Entry], reference: (Int) throws -> JSONValue
    ) rethrows -> JSONValue {
        guard let names = names(of: entries) else {
            return Mark.map.json(
                .array(
                    try entries.map { entry in
                        .array([
                            try json(entry.key, reference: reference),
                            try json(entry.value, reference: reference),
                        ])
                    }))
        }
        return .object(
            try zip(names, entries).map { name, entry in
                JSONMember(name: name, value: try json(entry.value, reference: reference))
            })
    }

    /// The keys, if they can be the names of one object's members.
    private static func names(of entries: [RecordValue.Entry]) -> [String]? {
        var names: [String] = []
        names.reserveCapacity(entries.count)
        for entry in entries {
            guard case .string(let name) = entry.key, name.utf8.first != UInt8(ascii: "$") else {
                return nil
            }
            names.append(name)
        }
        guard names.count > 1 else { return names }
        return Set(names.map(Identifier.init)).count == names.count ? names : nil
    }

    /// Floating point as text that gives the same bits again. A NaN with other bits than Swift's
    /// shows them.
    private static func text<Bits: FixedWidthInteger>(
        _ number: some FloatingPoint & CustomStringConvertible, bits: Bits, ofNaN standard: Bits
    ) -> String {
        guard number.isNaN else { return number.description }
        return bits == standard ? "nan" : "nan:" + String(bits, radix: 16)
    }
}

extension RecordReference {
    /// As it stands in an export.
    var json: JSONValue {
        switch self {
        case .node(let identifier): ValueNotation.Mark.reference.json(.string(identifier))
        case .deleted(let number): ValueNotation.Mark.deleted.json(.number(JSONNumber(number)))
        case .lost(let number): ValueNotation.Mark.lost.json(.number(JSONNumber(number)))
        }
    }
}
