import Foundation

/// A required field that a record lacks, because no write has fetched it.
///
/// ```swift
/// if case .incomplete(let missing) = outcome.reason {
///     for field in missing { request(field.identifier, field.path) }
/// }
/// ```
///
/// A field is missing if no type that wrote the record declares it, if it is *absent*, and if it is
/// nil where the type requires a value.
public struct MissingField: Sendable, Hashable, CustomStringConvertible {
    /// The identifier of the record that lacks the field; the key, for a model without a record of
    /// its own.
    public let identifier: String
    /// The name of the type as which the record was read.
    public let type: String
    /// The path of the field in the record: its name, as in `name`; inside of a model without an
    /// identifier also the way to it, as in `address.city` and `addresses[2].city`.
    public let path: String

    /// Makes a missing field.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the record.
    ///   - type: The name of the type as which the record is read.
    ///   - path: The path of the field in the record.
    public init(identifier: String, type: String, path: String) {
        self.identifier = identifier
        self.type = type
        self.path = path
    }

    /// The identifier and the path, as in `Person:1.name`.
    public var description: String { "\(identifier).\(path)" }
}

/// What a read does about a required field that a record lacks.
package enum MissingFieldRule {
    /// Ends the read.
    case stop
    /// Notes the field and goes on with a value that stands in for it, so that all missing fields
    /// are found. The read has no result.
    case collect
    /// Leaves the model out of the optional, the array or the dictionary that contains it.
    case leaveOut
}

/// The missing fields that a read has found.
struct MissingFields {
    private(set) var all: [MissingField] = []
    private var known: Set<MissingField> = []
    /// The names of the types as which records are read.
    var types: [Handle: String] = [:]
    /// How many values that stand in for missing models are being made. Their fields are not
    /// missing.
    var standIns = 0

    mutating func add(_ field: MissingField) {
        if known.insert(field).inserted { all.append(field) }
    }
}

extension RecordDecoder {
    /// Returns what stands in for a required field that the record lacks.
    ///
    /// - Throws: A failure, unless the read collects missing fields.
    @usableFromInline @inline(never)
    mutating func missingValue<Value>(_ key: String, _ type: Value.Type) throws -> Value {
        let treeReader = values.treeReader
        switch treeReader.missingFieldRule {
        case .stop: throw missing(key)
        case .leaveOut:
            findByName()
            throw ReadFailure(.incomplete)
        case .collect:
            treeReader.note(missing: key, in: self)
            guard let value = treeReader.standIn(for: type) else {
                findByName()
                throw ReadFailure(.incomplete)
            }
            return value
        }
    }

    /// Returns what stands in for a field that could not be decoded because it is nil. Stands
    /// behind the field then.
    ///
    /// - Throws: `error` as the failure of the field, for all other fields, and unless the read
    ///   collects missing fields.
    @usableFromInline @inline(never)
    mutating func valueInstead<Value>(
        of error: any Error, _ key: String, _ start: Int, _ type: Value.Type
    ) throws -> Value {
        var ahead = values.reader
        ahead.position = start
        guard try ahead.peek() == Wire.null else { throw try failed(error, key, start) }
        guard values.treeReader.missingFieldRule != .stop else {
            throw values.treeReader.lackingValue(try failed(error, key, start))
        }
        let place = place
        let value = try missingValue(key, type)
        self.place = Place(position: start + 1, slot: place.slot)
        return value
    }
}

extension TreeReader {
    /// Notes a field that the record on the path lacks.
    func note(missing key: String, in decoder: borrowing RecordDecoder) {
        guard let handle = currentRecord, !isInStandIn else { return }
        let record = parsedRecord(handle)
        var path = key
        if decoder.shape == nil, let record {
            // An inline model does not know where it stands: its place in the record tells.
            let position = record.values.count - decoder.distanceFromEnd
            path = (InlinePath.path(of: position, in: record).map { $0 + "." } ?? "") + key
        }
        noteMissing(path, of: record?.identifier, at: handle)
    }

    /// Returns a value that stands in for one that is missing; nil if there is none for the type.
    ///
    /// A model is made from an empty map, with values that stand in for all of its fields.
    func standIn<Value>(for type: Value.Type) -> Value? {
        if let type = type as? any StandIn.Type { return type.standIn as? Value }
        if let cases = (type as? any CaseIterable.Type).flatMap({ Self.firstCase(of: $0) }) {
            return cases as? Value
        }
        return withStandIn {
            try? ByteReader.reading([Wire.fixmap]) { reader in
                var values = ValueDecoder(reader: reader, treeReader: self, children: 0..<0)
                return try bridge.strategy(for: type).decode(from: &values)
            }
        }
    }

    private static func firstCase<Cases: CaseIterable>(of type: Cases.Type) -> Any? {
        type.allCases.first
    }
}

/// Finds the way to an inline model in its record.
private enum InlinePath {
    /// Returns the path of the map whose entries begin at `position` of the record's values; nil if
    /// there is none.
    static func path(of position: Int, in record: Record) -> String? {
        try? ByteReader.reading(record.values) { reader in
            // A key, a collection or a segment has one value and no names.
            for name in record.shape.count == 0 ? [""] : record.shape.names {
                let start = reader
                try reader.skipValue()
                guard reader.position > position else { continue }
                var inside = start
                return try path(of: position, from: name, &inside)
            }
            return nil
        }
    }

    private static func path(
        of position: Int, from path: String, _ reader: inout ByteReader
    ) throws -> String? {
        if let count = try reader.readArrayCount() {
            for index in 0..<count {
                let start = reader
                try reader.skipValue()
                guard reader.position > position else { continue }
                reader = start
                return try self.path(of: position, from: "\(path)[\(index)]", &reader)
            }
            return nil
        }
        guard let count = try reader.readMapCount() else { return nil }
        if reader.position == position { return path }
        for _ in 0..<count {
            let name = try reader.readString()
            if name == nil { try reader.skipValue() }
            let start = reader
            try reader.skipValue()
            guard reader.position > position else { continue }
            reader = start
            let inner = path.isEmpty ? name ?? "?" : path + "." + (name ?? "?")
            return try self.path(of: position, from: inner, &reader)
        }
        return nil
    }
}

/// A type with a value that stands in for a missing one.
private protocol StandIn {
    static var standIn: Self { get }
}

extension Optional: StandIn { fileprivate static var standIn: Wrapped? { nil } }
extension Field: StandIn { fileprivate static var standIn: Field { .absent } }
extension Array: StandIn { fileprivate static var standIn: [Element] { [] } }
extension ContiguousArray: StandIn { fileprivate static var standIn: Self { [] } }
extension Set: StandIn { fileprivate static var standIn: Set { [] } }
extension Dictionary: StandIn { fileprivate static var standIn: [Key: Value] { [:] } }
extension Bool: StandIn { fileprivate static var standIn: Bool { false } }
extension String: StandIn { fileprivate static var standIn: String { "" } }
extension Double: StandIn { fileprivate static var standIn: Double { 0 } }
extension Float: StandIn { fileprivate static var standIn: Float { 0 } }
extension Int: StandIn { fileprivate static var standIn: Int { 0 } }
extension Int8: StandIn { fileprivate static var standIn: Int8 { 0 } }
extension Int16: StandIn { fileprivate static var standIn: Int16 { 0 } }
extension Int32: StandIn { fileprivate static var standIn: Int32 { 0 } }
extension Int64: StandIn { fileprivate static var standIn: Int64 { 0 } }
extension Int128: StandIn { fileprivate static var standIn: Int128 { 0 } }
extension UInt: StandIn { fileprivate static var standIn: UInt { 0 } }
extension UInt8: StandIn { fileprivate static var standIn: UInt8 { 0 } }
extension UInt16: StandIn { fileprivate static var standIn: UInt16 { 0 } }
extension UInt32: StandIn { fileprivate static var standIn: UInt32 { 0 } }
extension UInt64: StandIn { fileprivate static var standIn: UInt64 { 0 } }
extension UInt128: StandIn { fileprivate static var standIn: UInt128 { 0 } }
extension Date: StandIn { fileprivate static var standIn: Date { Date(timeIntervalSince1970: 0) } }
extension Data: StandIn { fileprivate static var standIn: Data { Data() } }
extension UUID: StandIn { fileprivate static var standIn: UUID { UUID() } }
extension URL: StandIn { fileprivate static var standIn: URL { URL(filePath: "/") } }
extension Decimal: StandIn { fileprivate static var standIn: Decimal { 0 } }

// MARK: - In a read

extension TreeReader {
    /// Notes the type as which a record is read. Returns the number of missing fields so far.
    @usableFromInline
    func startCollecting(at handle: Handle, _ type: Any.Type) -> Int {
        guard missingFieldRule == .collect else { return 0 }
        state.missing.types[handle] = TypeName.of(type)
        return state.missing.all.count
    }

    /// Returns the error of a record that could not be decoded. If the read has found more missing
    /// fields than `count`, the initialiser may not have accepted a value that stands in for one:
    /// its error means nothing, and the model is left out.
    @usableFromInline
    func collected(_ error: any Error, since count: Int) -> any Error {
        guard missingFieldRule == .collect, state.missing.all.count > count else { return error }
        return ReadFailure(.incomplete)
    }

    /// The record being decoded.
    var currentRecord: Handle? { path.current }

    var isInStandIn: Bool { state.missing.standIns > 0 }

    func noteMissing(_ path: String, of identifier: String?, at handle: Handle) {
        let type = state.missing.types[handle] ?? ""
        state.missing.add(MissingField(identifier: identifier ?? "?", type: type, path: path))
    }

    /// Runs `body`, which makes a value that stands in for a missing one.
    func withStandIn<R>(_ body: () -> R) -> R {
        state.missing.standIns += 1
        defer { state.missing.standIns -= 1 }
        return body()
    }

    /// Returns the error of a field that is nil where a value is required.
    func lackingValue(_ error: any Error) -> any Error {
        if let error = error as? DecodingError {
            var failure = ReadFailure(error)
            failure.isNull = true
            return error.with(failure: failure)
        }
        guard var failure = error as? ReadFailure else { return error }
        failure.isNull = true
        return failure
    }
}
