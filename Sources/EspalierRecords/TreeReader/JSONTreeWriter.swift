import EspalierConfinement
import Foundation

/// What the JSON of a tree contains.
package struct JSONTreeOptions: Sendable, Hashable {
    /// How many levels of nodes are written. A node further down is its identifier.
    package var depth = Int.max
    /// The type whose fields of the root are written; nil for all fields.
    package var type: String?
    /// The members that are left out, by their paths: `messages.sender.email`. Arrays have no
    /// names, so a path is the same for all elements.
    package var excluded = JSONPaths.none
    /// Whether a member that is nil is written, as null.
    package var writesNulls = false

    package init() {}
}

/// A set of paths, as a tree of their names.
package struct JSONPaths: Sendable, Hashable {
    private var members: [String: JSONPaths] = [:]
    /// Whether a path of the set ends here.
    private(set) var isEnd = false

    static let none = JSONPaths([])

    package init(_ paths: [String]) {
        for path in paths { insert(path.split(separator: ".").map(String.init)[...]) }
    }

    private mutating func insert(_ path: ArraySlice<String>) {
        guard let first = path.first else { return isEnd = true }
        members[first, default: JSONPaths([])].insert(path.dropFirst())
    }

    var isEmpty: Bool { members.isEmpty }

    /// The rest of the paths that begin with a name; nil if none does.
    subscript(_ name: String) -> JSONPaths? { members.isEmpty ? nil : members[name] }
}

/// Writes trees as JSON straight from records, without models and their types.
///
/// The text is what `JSONEncoder` writes for `Codable` models with its default strategies: a nil
/// member is left out, a date is a number of seconds since 2001, and bytes are Base64. Sixteen
/// bytes are written as a UUID, because a record does not tell UUIDs from other bytes. Infinite
/// numbers and NaN, which JSON lacks, become null.
///
/// A reference to a deleted node is written as a nil member, and so is one back to a node that
/// contains it. In an array, such an element is left out.
///
/// Confined to the thread of the read.
package final class JSONTreeWriter {
    private let treeReader: TreeReader
    private let options: JSONTreeOptions
    /// The most bytes of the text: nodes that occur often are written often.
    private let limit: Int

    // Confined to the thread of the read: checks of exclusive access took a third of the time.
    private let confinedOutput = Confined([UInt8]())
    private let confinedLevel = Confined(0)
    private let confinedNames = Confined([ObjectIdentifier: [[UInt8]]]())

    package private(set) var output: [UInt8] {
        @inline(__always) _read { yield confinedOutput.value }
        @inline(__always) _modify { yield &confinedOutput.value }
    }
    /// How many nodes enclose the value being written.
    private var level: Int {
        @inline(__always) get { confinedLevel.value }
        @inline(__always) set { confinedLevel.value = newValue }
    }

    /// The text of a node that occurs again. The tree reader keeps it as it keeps models.
    private struct Text { let bytes: [UInt8] }

    package init(_ treeReader: TreeReader, _ options: JSONTreeOptions, limit: Int) {
        self.treeReader = treeReader
        self.options = options
        self.limit = limit
    }

    /// Writes the node to which the reference at `decoder` leads.
    package func write(root decoder: inout ValueDecoder) throws {
        try write(&decoder, options.excluded, type: options.type)
    }

    /// Writes the elements that `body` gives, as an array.
    package func writeArray(_ body: ((inout ValueDecoder) throws -> Void) throws -> Void) throws {
        try writeArray(options.excluded, body)
    }

    private func writeArray(
        _ excluded: JSONPaths, _ body: ((inout ValueDecoder) throws -> Void) throws -> Void
    ) throws {
        output.append(UInt8(ascii: "["))
        var isFirst = true
        try body { try self.writeElement(&$0, excluded, &isFirst) }
        output.append(UInt8(ascii: "]"))
    }

    // MARK: - Values

    private func write(
        _ decoder: inout ValueDecoder, _ excluded: JSONPaths, type: String? = nil
    ) throws {
        switch try decoder.kind() {
        case .child: try writeNode(&decoder, excluded, type)
        case .string: try writeText(&decoder)
        case .integer:
            if let value = try decoder.reader.readInteger(Int64.self) {
                write(value)
            } else {
                write(digits: String(try decoder.decodeInteger(UInt64.self)))
            }
        case .wideInteger:
            if let value = try decoder.reader.readInteger(Int128.self) {
                write(digits: String(value))
            } else {
                write(digits: String(try decoder.decodeInteger(UInt128.self)))
            }
        case .float:
            if let value = try decoder.reader.readFloat() {
                write(number: value.description, isFinite: value.isFinite)
            } else {
                let value = try decoder.decodeDouble()
                write(number: value.description, isFinite: value.isFinite)
            }
        case .decimal:
            let digits = try decoder.decodeDecimalDigits()
            if JSONText.isNumber(digits.utf8) {
                write(number: digits, isFinite: true)
            } else if digits.utf8.contains(where: {
                $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")
            }) {
                write(digits)
            } else {
                write(digits: "null")
            }
        case .bool: write(digits: try decoder.decodeBool() ? "true" : "false")
        case .bytes: write(Self.text(of: try decoder.decodeBytes()))
        case .null, .absent:
            _ = try decoder.decodeNull()
            write(digits: "null")
        case .array:
            try writeArray(excluded) { writeElement in
                try decoder.decodeElements { try writeElement(&$0) }
            }
        case .map: try writeMap(&decoder, excluded)
        }
        guard output.count <= limit else { throw treeReader.stop(.tooLarge) }
    }

    private func writeElement(
        _ decoder: inout ValueDecoder, _ excluded: JSONPaths, _ isFirst: inout Bool
    ) throws {
        let start = output.count
        do {
            if !isFirst { output.append(UInt8(ascii: ",")) }
            try write(&decoder, excluded)
            isFirst = false
        } catch {
            // The array of the tree reader leaves out an element that was deleted.
            output.removeLast(output.count - start)
            throw error
        }
    }

    private func writeMap(_ decoder: inout ValueDecoder, _ excluded: JSONPaths) throws {
        output.append(UInt8(ascii: "{"))
        var isFirst = true
        try decoder.decodeEntries(key: { try self.key(&$0) }) { decoder, key in
            try self.writeMember(key, Self.quoted(key), &decoder, excluded[key], &isFirst)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// Reads the key of a map. A key that is no string becomes its JSON text.
    private func key(_ decoder: inout ValueDecoder) throws -> String {
        if try decoder.kind() == .string { return try decoder.decodeString() }
        let start = output.count
        try write(&decoder, .none)
        defer { output.removeLast(output.count - start) }
        return String(decoding: output[start...], as: UTF8.self)
    }

    /// Writes one member, unless it is nil, was deleted or is excluded.
    ///
    /// - Parameter name: The name in quotes, with the colon.
    private func writeMember(
        _ key: String, _ name: [UInt8], _ decoder: inout ValueDecoder, _ excluded: JSONPaths?,
        _ isFirst: inout Bool
    ) throws {
        if excluded?.isEnd == true { return try decoder.skipValue() }
        let start = output.count
        if !isFirst { output.append(UInt8(ascii: ",")) }
        output += name
        let value = output.count
        if try decoder.reader.peek() == Wire.absent {
            try decoder.skipValue()
            return output.removeLast(output.count - start)
        }
        var isNull = try decoder.decodeNull()
        if !isNull {
            let position = decoder.reader.position
            do {
                try write(&decoder, excluded ?? .none)
            } catch {
                output.removeLast(output.count - value)
                try decoder.leaveOut(error, from: position) { $0.inside(field: key) }
                isNull = true
            }
        }
        if isNull {
            guard options.writesNulls else { return output.removeLast(output.count - start) }
            write(digits: "null")
        }
        isFirst = false
    }

    // MARK: - Nodes

    private func writeNode(
        _ decoder: inout ValueDecoder, _ excluded: JSONPaths, _ type: String?
    ) throws {
        guard let handle = try decoder.readReference() else { throw decoder.mismatch("a model") }
        if treeReader.checksAllAges { try treeReader.checkAge(of: handle, nil) }
        guard level < options.depth else {
            return write(try treeReader.identifierOfReference(handle))
        }
        level += 1
        defer { level -= 1 }
        let start = output.count
        do {
            guard try treeReader.visit(handle, ObjectIdentifier(Text.self)) else {
                return try treeReader.decode(handle) { try writeFields(&$0, excluded, type) }
            }
            // The same node elsewhere has the same text, unless its place decides what it shows.
            guard options.depth == .max, options.excluded.isEmpty, type == nil else {
                return try treeReader.decode(handle) { try writeFields(&$0, excluded, type) }
            }
            var isWritten = false
            let text = try treeReader.decodeRepeated(handle) { record in
                try writeFields(&record, excluded, nil)
                isWritten = true
                return Text(bytes: Array(output[start...]))
            }
            if !isWritten { output += text.bytes }
        } catch {
            output.removeLast(output.count - start)
            throw error
        }
    }

    private func writeFields(
        _ record: inout RecordDecoder, _ excluded: JSONPaths, _ type: String?
    ) throws {
        let shape = record.shape ?? .none
        if let type, !shape.types.contains(type) {
            throw ReadFailure(.undecodable("the record has no fields of \(type)"))
        }
        let names = names(of: shape)
        output.append(UInt8(ascii: "{"))
        var isFirst = true
        for slot in 0..<shape.count {
            if let type, !shape.isDeclared(slot, by: type) {
                try record.values.skipValue()
                continue
            }
            let key = shape.names[slot]
            try writeMember(key, names[slot], &record.values, excluded[key], &isFirst)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// Returns the names of the members of a shape, each in quotes and with its colon.
    private func names(of shape: Shape) -> [[UInt8]] {
        if let known = confinedNames.value[ObjectIdentifier(shape)] { return known }
        let made = shape.names.map(Self.quoted)
        confinedNames.value[ObjectIdentifier(shape)] = made
        return made
    }

    // MARK: - Text

    /// Writes a string. Most texts are copied: making a `String` of each is a quarter of the time.
    private func writeText(_ decoder: inout ValueDecoder) throws {
        let (start, position) = (output.count, decoder.reader.position)
        output.append(UInt8(ascii: "\""))
        if let count = try decoder.reader.readStringLength(),
            try decoder.reader.copyPlainText(count: count, to: &output)
        {
            return output.append(UInt8(ascii: "\""))
        }
        output.removeLast(output.count - start)
        decoder.reader.position = position
        write(try decoder.decodeString())
    }

    private func write(_ integer: Int64) {
        if integer < 0 { output.append(UInt8(ascii: "-")) }
        let start = output.count
        var rest = integer.magnitude
        repeat {
            output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        output[start...].reverse()
    }

    private func write(digits: String) { output.append(contentsOf: digits.utf8) }

    private func write(number: String, isFinite: Bool) {
        guard isFinite else { return write(digits: "null") }
        output.append(contentsOf: number.utf8)
        // As `JSONEncoder` does, which knows no difference between 1 and 1.0.
        if number.utf8.count > 2, number.hasSuffix(".0") { output.removeLast(2) }
    }

    private static func text(of bytes: [UInt8]) -> String {
        UUID(bytes: bytes)?.uuidString ?? Data(bytes).base64EncodedString()
    }

    private func write(_ text: String) { JSONText.write(text, to: &output) }

    /// Returns a name in quotes, with a colon.
    private static func quoted(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONText.write(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        return bytes
    }
}

extension TreeReader {
    /// Returns the identifier of a node that the read shows as a reference, without what is in it.
    ///
    /// - Throws: What decoding the node would throw: it may be deleted, lost or damaged.
    fileprivate func identifierOfReference(_ handle: Handle) throws -> String {
        do {
            let (bytes, owner) = try lookUp(handle)
            let record = try withExtendedLifetime(owner) {
                try Record(reading: bytes, handle: handle, shapes: source.shape)
            }
            if record.shape.isDeletion { throw ReadFailure(.deleted) }
            // The index holds only the beginnings of names.
            guard
                !state.isAtEntry
                    || Identifier(record.identifier) == Identifier(state.entryIdentifier)
            else { throw stop(.notFound) }
            return record.identifier
        } catch let error as FormatError {
            if !error.isNewer { state.unreadable.append(handle) }
            throw stop(ReadFailure(error).cause)
        } catch let failure as ReadFailure {
            throw failure
        } catch {
            throw stop(.unavailable("\(error)"))
        }
    }
}

/// Writes strings as JSON.
package enum JSONText {
    /// Returns whether a text is a number of JSON.
    static func isNumber(_ text: some Collection<UInt8>) -> Bool {
        var rest = text[...]
        func skipDigits() -> Int {
            let count = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }.count
            rest = rest.dropFirst(count)
            return count
        }
        func skip(_ bytes: String) -> Bool {
            guard let first = rest.first, bytes.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        _ = skip("-")
        let isZero = rest.first == UInt8(ascii: "0")
        let whole = skipDigits()
        guard whole > 0, !isZero || whole == 1 else { return false }
        if skip("."), skipDigits() == 0 { return false }
        if skip("eE") {
            _ = skip("+-")
            guard skipDigits() > 0 else { return false }
        }
        return rest.isEmpty
    }

    /// Appends `text` in quotes, with escapes where JSON requires them.
    package static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        if text.utf8.contains(where: needsEscape) {
            for byte in text.utf8 { writeEscaped(byte, to: &output) }
        } else {
            output.append(contentsOf: text.utf8)
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Appends a byte of UTF-8 text, escaped if JSON requires it.
    package static func writeEscaped(_ byte: UInt8, to output: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""): output.append(contentsOf: #"\""#.utf8)
        case UInt8(ascii: "\\"): output.append(contentsOf: #"\\"#.utf8)
        case UInt8(ascii: "\n"): output.append(contentsOf: #"\n"#.utf8)
        case UInt8(ascii: "\r"): output.append(contentsOf: #"\r"#.utf8)
        case UInt8(ascii: "\t"): output.append(contentsOf: #"\t"#.utf8)
        case 0x08: output.append(contentsOf: #"\b"#.utf8)
        case 0x0C: output.append(contentsOf: #"\f"#.utf8)
        case 0x00..<0x20:
            output.append(contentsOf: (byte < 0x10 ? #"\u000"# : #"\u00"#).utf8)
            output.append(contentsOf: String(byte, radix: 16).utf8)
        default: output.append(byte)
        }
    }
}
