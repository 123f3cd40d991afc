import EspalierRecords
import EspalierStore
import Foundation

extension ValueNotation {
    /// The value that `json` says. `reference` gives the ordinal of a child.
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
            var values: [RecordValue] = []
            values.reserveCapacity(elements.count)
            for element in elements {
                values.append(try value(element, depth: depth - 1, reference: reference))
            }
            return .array(values)
        case .object(let members):
            guard let marked = members.first(where: { $0.name.utf8.first == UInt8(ascii: "$") })
            else {
                var entries: [RecordValue.Entry] = []
                entries.reserveCapacity(members.count)
                for member in members {
                    let value = try value(member.value, depth: depth - 1, reference: reference)
                    entries.append(.init(key: .string(member.name), value: value))
                }
                return .map(entries)
            }
            guard members.count == 1, let mark = Mark(rawValue: marked.name) else {
                throw LineProblem(
                    "\(marked.name) is no mark of a value; a map whose keys start with $ is written with $map"
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
            // As models store it: an Int128 that is beyond an Int64 is wide, even where a UInt64
            // would hold it.
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
        // Maps whose keys are all strings may be models or JSON objects, which have orders of their
        // own.
        if isDictionary { entries.sort { $0.key.lexicographicallyPrecedes($1.key) } }
        return entries.map(\.entry)
    }

    /// A sign, digits with a point among them, an exponent; or NaN, which is all else that a
    /// `Decimal` can be.
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
        // What is too large for the kind would become an infinity.
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
