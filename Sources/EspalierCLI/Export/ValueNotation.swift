#if CommandLine
import EspalierRecords
import EspalierStore
import Foundation

/// Stored values as JSON without loss: plain where JSON has the kind, otherwise an object with one
/// member, a mark.
///
///     {"$ref":"User:2"}      a reference
///     {"$deleted":1}         a reference to a deleted record
///     {"$lost":1}            a reference to an unreadable or missing record
///     {"$absent":true}       a field that was never set
///     {"$bytes":"AAEC"}      bytes, in Base64
///     {"$decimal":"0.10"}    decimal digits
///     {"$int128":"-5"}       an integer of 128 bits; also $uint128
///     {"$float":"0.1"}       floating point of 32 bits; also nan, inf, -inf
///     {"$double":"nan"}      floating point of 64 bits that JSON cannot write
///     {"$map":[[1,"one"]]}   a map with keys that are not strings, or that start with $
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

    /// The deepest value that can be imported: that of the deepest document the tool can read, and
    /// a scalar in it.
    static let maximumDepth = JSONParser.defaultMaximumDepth + 1

    /// A map written with a mark takes three levels of JSON.
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
        // Never plain, because programs with 64-bit numbers would change it.
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

    /// Returns the keys, or nil if they cannot be the names of the members of one object.
    private static func names(of entries: [RecordValue.Entry]) -> [String]? {
        let names = entries.compactMap { entry -> String? in
            guard case .string(let name) = entry.key else { return nil }
            return name.utf8.first == UInt8(ascii: "$") ? nil : name
        }
        guard names.count == entries.count else { return nil }
        return names.count <= 1 || Set(names.map(Identifier.init)).count == names.count
            ? names : nil
    }

    /// Returns text from which the same bits can be read. The text of a NaN holds its bits, unless
    /// they are those of Swift's NaN.
    private static func text<Bits: FixedWidthInteger>(
        _ number: some FloatingPoint & CustomStringConvertible, bits: Bits, ofNaN standard: Bits
    ) -> String {
        guard number.isNaN else { return number.description }
        return bits == standard ? "nan" : "nan:" + String(bits, radix: 16)
    }
}

extension RecordReference {
    /// The JSON in an export.
    var json: JSONValue {
        switch self {
        case .node(let identifier): ValueNotation.Mark.reference.json(.string(identifier))
        case .deleted(let number): ValueNotation.Mark.deleted.json(.number(number))
        case .lost(let number): ValueNotation.Mark.lost.json(.number(number))
        }
    }
}

extension ValueNotation {
    /// Parses a value.
    ///
    /// - Parameter reference: Returns the ordinal of the child for a reference.
    static func value(
        _ json: JSONValue, depth: Int = maximumDepth, reference: (RecordReference) -> Int
    ) throws(LineProblem) -> RecordValue {
        guard depth > 0 else {
            throw LineProblem("values are nested more than \(maximumDepth) levels deep")
        }
        switch json {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .string(let text): return .string(text)
        case .number(.int(let number)): return .integer(number)
        case .number(.uint(let number)): return .unsigned(number)
        case .number(.double(let number)): return .double(number)
        case .number(.literal(let digits)): return .decimal(digits)
        case .array(let elements):
            return .array(
                try elements.map { element throws(LineProblem) in
                    try value(element, depth: depth - 1, reference: reference)
                })
        case .object(let members):
            guard let marked = members.first(where: { $0.name.utf8.first == UInt8(ascii: "$") })
            else {
                return .map(
                    try members.map { member throws(LineProblem) in
                        let value = try value(member.value, depth: depth - 1, reference: reference)
                        return .init(key: .string(member.name), value: value)
                    })
            }
            guard members.count == 1, let mark = Mark(rawValue: marked.name) else {
                throw LineProblem(
                    """
                    \(marked.name) is not a mark of a value; a map whose keys start with $ is \
                    written with $map
                    """
                )
            }
            return try value(mark, marked.value, depth: depth, reference: reference)
        }
    }

    private static func value(
        _ mark: Mark, _ json: JSONValue, depth: Int, reference: (RecordReference) -> Int
    ) throws(LineProblem) -> RecordValue {
        switch mark {
        case .reference:
            guard case .string(let identifier) = json, !identifier.isEmpty else {
                throw wrong(mark, "an identifier")
            }
            return .child(reference(.node(identifier)))
        case .deleted: return .child(reference(.deleted(try number(mark, json))))
        case .lost: return .child(reference(.lost(try number(mark, json))))
        case .absent:
            guard json == true else { throw wrong(mark, "true") }
            return .absent
        case .bytes:
            guard case .string(let text) = json, let data = Data(base64Encoded: text) else {
                throw wrong(mark, "Base64")
            }
            return .bytes([UInt8](data))
        case .decimal:
            let text = try text(mark, json, "digits in quotes")
            guard isDecimal(text) else { throw wrong(mark, "digits in quotes, or NaN") }
            return .decimal(text)
        case .int128:
            guard let number = Int128(try text(mark, json, "digits in quotes")) else {
                throw wrong(mark, "a number of 128 bits, in quotes")
            }
            // Models store an Int128 beyond Int64 as wide, even if a UInt64 would hold it.
            if let number = Int64(exactly: number) { return .integer(number) }
            return wide(UInt128(bitPattern: number), signed: true)
        case .uint128:
            guard let number = UInt128(try text(mark, json, "digits in quotes")) else {
                throw wrong(mark, "a number of 128 bits that is not negative, in quotes")
            }
            if let number = Int64(exactly: number) { return .integer(number) }
            if let number = UInt64(exactly: number) { return .unsigned(number) }
            return wide(number, signed: false)
        case .float:
            return .float(
                try floating(
                    mark, json, { Float($0) },
                    bits: { UInt32($0, radix: 16).map(Float.init(bitPattern:)) }))
        case .double:
            return .double(
                try floating(
                    mark, json, { Double($0) },
                    bits: { UInt64($0, radix: 16).map(Double.init(bitPattern:)) }))
        case .map: return .map(try entries(json, depth: depth, reference: reference))
        }
    }

    private static func entries(
        _ json: JSONValue, depth: Int, reference: (RecordReference) -> Int
    ) throws(LineProblem) -> [RecordValue.Entry] {
        guard case .array(let pairs) = json else { throw wrong(.map, "an array of pairs") }
        var entries: [(key: [UInt8], entry: RecordValue.Entry)] = []
        var isDictionary = false
        for pair in pairs {
            guard case .array(let pair) = pair, pair.count == 2 else {
                throw wrong(.map, "an array of pairs")
            }
            let key = try value(pair[0], depth: depth - 1, reference: reference)
            if case .string = key {} else { isDictionary = true }
            var writer = ByteWriter()
            writer.append(key)
            let value = try value(pair[1], depth: depth - 1, reference: reference)
            entries.append((writer.bytes, .init(key: key, value: value)))
        }
        // Maps whose keys are all strings may be models or JSON objects, which keep their own
        // order.
        if isDictionary { entries.sort { $0.key.lexicographicallyPrecedes($1.key) } }
        return entries.map(\.entry)
    }

    /// Returns whether `text` is a number with optional sign, point and exponent, or NaN: the
    /// values of a `Decimal`.
    private static func isDecimal(_ text: String) -> Bool {
        if text == "NaN" { return true }
        var rest = Array(text.utf8)[...]
        func skip(_ bytes: String) {
            if let first = rest.first, bytes.utf8.contains(first) { rest.removeFirst() }
        }
        func skipDigits() -> Int {
            let count = rest.prefix { $0.isASCIIDigit }.count
            rest.removeFirst(count)
            return count
        }
        skip("+-")
        var digits = skipDigits()
        skip(".")
        digits += skipDigits()
        guard digits > 0 else { return false }
        guard !rest.isEmpty else { return true }
        guard rest.removeFirst() | 0x20 == UInt8(ascii: "e") else { return false }
        skip("+-")
        return skipDigits() > 0 && rest.isEmpty
    }

    private static func wide(_ bits: UInt128, signed: Bool) -> RecordValue {
        .wide(
            high: UInt64(truncatingIfNeeded: bits >> 64), low: UInt64(truncatingIfNeeded: bits),
            signed: signed)
    }

    private static func floating<Number: FloatingPoint>(
        _ mark: Mark, _ json: JSONValue, _ parse: (String) -> Number?, bits: (Substring) -> Number?
    ) throws(LineProblem) -> Number {
        let text = try text(mark, json, "a number in quotes")
        if text.hasPrefix("nan:"), let number = bits(text.dropFirst(4)), number.isNaN {
            return number
        }
        // A number too large for the kind would parse as an infinity.
        guard let number = parse(text), number.isFinite || ["nan", "inf", "-inf"].contains(text)
        else {
            throw wrong(mark, "a number in quotes, nan, inf or -inf")
        }
        return number
    }

    private static func number(_ mark: Mark, _ json: JSONValue) throws(LineProblem) -> Int {
        guard case .number(.int(let number)) = json, number >= 0 else {
            throw wrong(mark, "a number from 0 up")
        }
        return Int(number)
    }

    private static func text(_ mark: Mark, _ json: JSONValue, _ what: String) throws(LineProblem)
        -> String
    {
        guard case .string(let text) = json else { throw wrong(mark, what) }
        return text
    }

    private static func wrong(_ mark: Mark, _ what: String) -> LineProblem {
        LineProblem("\(mark.rawValue) takes \(what)")
    }
}
#endif
