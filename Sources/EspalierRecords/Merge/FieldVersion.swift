import Foundation

// Rules merge two versions of a field in their stored form, without decoding models. A version is a
// range in the values of a stored record, or of a draft in a tree that is being flattened. In a
// record, children are handles. In a draft they are indexes of the tree's nodes, kept as handles,
// so that the same functions serve both. The two versions of one merge number children alike.

/// One version of a field.
struct FieldVersion {
    /// The values of the record or draft that has the version.
    let values: [UInt8]
    let range: Range<Int>
    /// The children of that record or draft.
    let children: [Handle]

    /// The outcome of a rule.
    enum Outcome {
        case old
        case new
        /// A value of its own, whose ordinals are positions in `children`.
        case merged(values: [UInt8], children: [Handle])
    }

    /// Returns what a merge of `new` into this version by `rule` leaves. `isOldNewer` takes the
    /// name of a field, and returns whether the old side has the newer value in it.
    func merged(
        with new: FieldVersion, by rule: MergeRule, isOldNewer: (String) throws -> Bool
    ) throws -> Outcome {
        switch rule.kind {
        case .overwrite: return .new
        case .keepFirst: return .old
        case .newest(let field): return try isOldNewer(field) ? .old : .new
        case .union: return try joined(with: new) { Self.missing(in: $0, of: $1) }
        case .append: return try joined(with: new) { Self.remainder(of: $1, after: $0) }
        case .combined(let body):
            return body(values[range], new.values[new.range]).map {
                .merged(values: $0, children: [])
            } ?? .new
        }
    }

    // MARK: - Arrays

    /// An element of an array.
    private struct Element {
        let range: Range<Int>
        /// The bytes of the element with handles instead of ordinals, so that elements of different
        /// records can be compared.
        let key: [UInt8]
    }

    /// Returns this array followed by the elements of `new` at the positions that `added` returns;
    /// `new` if one of the two is no array.
    private func joined(
        with new: FieldVersion, _ added: (_ old: [[UInt8]], _ new: [[UInt8]]) -> [Int]
    ) throws -> Outcome {
        guard let old = try elements, let others = try new.elements else { return .new }
        let positions = added(old.map(\.key), others.map(\.key))
        guard !positions.isEmpty else { return .old }
        var splicer = ValueSplicer()
        splicer.append(arrayOf: old.count + positions.count)
        for element in old { try append(element.range, to: &splicer) }
        for position in positions { try new.append(others[position].range, to: &splicer) }
        return .merged(values: splicer.values, children: splicer.children)
    }

    /// Returns the positions of the elements of `new` that `old` lacks, each element once.
    private static func missing(in old: [[UInt8]], of new: [[UInt8]]) -> [Int] {
        var known = Set(old)
        return new.indices.filter { known.insert(new[$0]).inserted }
    }

    /// Returns the positions of `new` after its overlap with `old`: the longest prefix of `new`
    /// that is a suffix of `old`.
    ///
    /// The table is the one of the search by Knuth, Morris and Pratt: for each prefix of `new`, the
    /// length of the longest shorter prefix that is a suffix of it.
    ///
    /// - Complexity: O(*n*) in the elements of both arrays.
    private static func remainder(of new: [[UInt8]], after old: [[UInt8]]) -> [Int] {
        var table = [0]
        func extended(_ length: Int, by element: [UInt8]) -> Int {
            var length = length
            while length > 0, length == new.count || new[length] != element {
                length = table[length - 1]
            }
            return length < new.count && new[length] == element ? length + 1 : length
        }
        for element in new.dropFirst() {
            table.append(extended(table[table.count - 1], by: element))
        }
        guard !new.isEmpty else { return [] }
        let overlap = old.suffix(new.count).reduce(0) { extended($0, by: $1) }
        return Array(overlap..<new.count)
    }

    /// The elements; nil if the value is no array.
    private var elements: [Element]? {
        get throws {
            try ByteReader.reading(values) { reader in
                reader.position = range.lowerBound
                guard let count = try reader.readArrayCount() else { return nil }
                return try (0..<count).map { _ in
                    let start = reader.position
                    var key = ByteWriter()
                    var end = reader
                    try end.skipValue()
                    while reader.position < end.position {
                        let part = reader.position
                        if let ordinal = try reader.readChild() {
                            // No stored value begins with these bytes: a child takes at most four.
                            key.append(Wire.fixext8)
                            key.append(Wire.Extension.child)
                            key.append(integer: try child(ordinal).rawValue)
                        } else {
                            try reader.skipHead()
                            reader.copy(part..<reader.position, into: &key)
                        }
                    }
                    return Element(range: start..<reader.position, key: key.bytes)
                }
            }
        }
    }

    private func child(_ ordinal: Int) throws -> Handle {
        guard ordinal < children.count else {
            throw FormatError.malformed("a child that is not in the record")
        }
        return children[ordinal]
    }

    private func append(_ range: Range<Int>, to splicer: inout ValueSplicer) throws {
        try append(range, to: &splicer, child: child)
    }

    private func append(
        _ range: Range<Int>, to splicer: inout ValueSplicer, child: (Int) throws -> Handle
    ) throws {
        try ByteReader.reading(values) { reader in
            try splicer.append(range, of: reader, child: child)
        }
    }

    /// Appends the whole version.
    func append(to splicer: inout ValueSplicer) throws { try append(range, to: &splicer) }
}

// MARK: - Order

extension FieldVersion {
    /// Returns whether this value is greater than another one; false for values of different kinds.
    func isNewer(than other: FieldVersion) throws -> Bool {
        try Self.isGreater(value, other.value)
    }

    private var value: RecordValue {
        get throws {
            try ByteReader.reading(values) { reader in
                reader.position = range.lowerBound
                return try RecordValue(reading: &reader)
            }
        }
    }

    private static func isGreater(_ a: RecordValue, _ b: RecordValue) -> Bool {
        switch (a, b) {
        case (.string(let a), .string(let b)): b.utf8.lexicographicallyPrecedes(a.utf8)
        case (.bytes(let a), .bytes(let b)): b.lexicographicallyPrecedes(a)
        default:
            if let a = a.wholeNumber, let b = b.wholeNumber {
                a > b
            } else if let a = a.fraction, let b = b.fraction {
                a > b
            } else if let a = a.number, let b = b.number {
                a > b
            } else {
                false
            }
        }
    }
}

extension [String] {
    /// Returns the fields in which the stored version is newer. `versions` returns the stored and
    /// the new version of a field; nil if one of the two is missing.
    func newer(
        _ versions: (String) throws -> (old: FieldVersion, new: FieldVersion)?
    ) throws -> Set<String> {
        var newer: Set<String> = []
        for name in self {
            guard let (old, new) = try versions(name), try old.isNewer(than: new) else { continue }
            newer.insert(name)
        }
        return newer
    }
}

extension RecordValue {
    /// The number, if it is stored as an integer and fits into 128 bits with a sign.
    fileprivate var wholeNumber: Int128? {
        switch self {
        case .integer(let value): Int128(value)
        case .unsigned(let value): Int128(value)
        case .wide(let high, let low, true):
            Int128(Int64(bitPattern: high)) << 64 | Int128(low)
        case .wide(let high, let low, false):
            Int128(exactly: UInt128(high) << 64 | UInt128(low))
        default: nil
        }
    }

    /// The number, if it is stored as a `Float` or a `Double`.
    fileprivate var fraction: Double? {
        switch self {
        case .float(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The number of any kind.
    fileprivate var number: Decimal? {
        switch self {
        case .float(let value) where value.isFinite: Decimal(Double(value))
        case .double(let value) where value.isFinite: Decimal(value)
        case .decimal(let digits): Decimal(string: digits, locale: nil)
        case .wide(let high, let low, false):
            Decimal(string: "\(UInt128(high) << 64 | UInt128(low))", locale: nil)
        default: wholeNumber.flatMap { Decimal(string: "\($0)", locale: nil) }
        }
    }
}

// MARK: - Functions

/// Decodes, combines and encodes values outside of any record, for `MergeRule.combined`.
enum StandaloneValue {
    /// A source without records: references in a value lead nowhere.
    private final class NoRecords: RecordSource {
        func record(_ handle: Handle) throws -> RecordLookup { .nothing }
        func shape(_ number: UInt64) throws -> Shape? { nil }
    }

    /// Returns the bytes of the value that `body` makes of two others; nil if one of the three
    /// contains a model with an identifier. Throws if a value can't be decoded or encoded.
    static func merge<Value>(
        _ old: ArraySlice<UInt8>, _ new: ArraySlice<UInt8>,
        _ decode: (inout ValueDecoder) throws -> Value,
        _ encode: (Value, ValueEncoder) throws -> Void, _ body: (Value, Value) -> Value
    ) throws -> [UInt8]? {
        guard try !hasChildren(old), try !hasChildren(new) else { return nil }
        let merged = body(try value(of: old, decode), try value(of: new, decode))
        let draft = try Flattener().value { try encode(merged, $0) }
        return draft.children.isEmpty ? draft.bytes : nil
    }

    private static func value<Value>(
        of bytes: ArraySlice<UInt8>, _ decode: (inout ValueDecoder) throws -> Value
    ) throws -> Value {
        try ByteReader.reading(Array(bytes)) { reader in
            var decoder = ValueDecoder(
                reader: reader, treeReader: TreeReader(source: NoRecords()), children: 0..<0)
            return try decode(&decoder)
        }
    }

    private static func hasChildren(_ bytes: ArraySlice<UInt8>) throws -> Bool {
        try ByteReader.reading(Array(bytes)) { reader in
            while reader.position < bytes.count {
                if try reader.readChild() != nil { return true }
                try reader.skipHead()
            }
            return false
        }
    }
}
