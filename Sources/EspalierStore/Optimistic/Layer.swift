import EspalierModels
import EspalierRecords

/// An optimistic change that is neither confirmed nor rolled back: writes that are applied again
/// each time the records below them change.
///
///     layer    = identifier, when it was made (varint), names, sections
///     names    = count, then each: name space (byte), identifier
///     sections = count, then each: tree, steps
///     steps    = count, then each: kind (byte), and what the kind has
struct Layer: Sendable {
    /// Its place in the order of the layers.
    let number: UInt64
    /// The name that the app gave it.
    let identifier: Identifier
    let madeAt: WriteTime
    /// The records that it writes or deletes.
    let names: [RecordName]
    /// The writes, as bytes: most layers are never applied again.
    let encodedSections: [UInt8]

    init(
        number: UInt64, _ identifier: String, madeAt: WriteTime, names: [RecordName],
        _ sections: [BatchSection]
    ) throws(FormatError) {
        self.number = number
        self.identifier = Identifier(identifier)
        self.madeAt = madeAt
        self.names = names
        var writer = ByteWriter()
        writer.append(count: sections.count)
        for section in sections { try section.append(to: &writer) }
        encodedSections = writer.bytes
    }

    /// Decodes the writes.
    var sections: [BatchSection] {
        get throws { try Self.decodeSections(encodedSections) }
    }

    static func decodeSections(_ bytes: [UInt8]) throws -> [BatchSection] {
        try ByteReader.reading(bytes) { reader in
            var sections: [BatchSection] = []
            for _ in 0..<(try reader.count()) {
                sections.append(try BatchSection(reading: &reader))
            }
            return sections
        }
    }

    /// Appends the layer to `writer`, without its number.
    func append(to writer: inout ByteWriter) {
        writer.append(string: identifier.string)
        writer.append(varint: madeAt.rawValue)
        writer.append(count: names.count)
        for name in names { name.append(to: &writer) }
        writer.append(encodedSections)
    }

    init(number: UInt64, reading reader: inout ByteReader) throws(FormatError) {
        self.number = number
        identifier = Identifier(try reader.string(count: reader.count()))
        madeAt = WriteTime(try reader.varint())
        var names: [RecordName] = []
        for _ in 0..<(try reader.count()) { names.append(try RecordName(reading: &reader)) }
        self.names = names
        encodedSections = try reader.bytes(count: reader.remaining)
    }
}

extension RecordName {
    func append(to writer: inout ByteWriter) {
        writer.append(nameSpace.rawValue)
        writer.append(string: identifier.string)
    }

    init(reading reader: inout ByteReader) throws(FormatError) {
        guard let nameSpace = NameSpace(rawValue: try reader.byte()) else {
            throw .malformed("an unknown name space")
        }
        self.init(nameSpace, try reader.string(count: reader.count()))
    }
}

// MARK: - Sections as bytes

extension BatchSection {
    private enum Kind: UInt8 {
        case node, key, delete, replaceAll, edit, append, appendNew, move, editNew
    }

    fileprivate func append(to writer: inout ByteWriter) throws(FormatError) {
        tree.append(to: &writer)
        writer.append(count: steps.count)
        for step in steps { try Self.append(step, to: &writer) }
    }

    private static func append(
        _ step: Step, to writer: inout ByteWriter
    ) throws(FormatError) {
        switch step {
        case .root(let index):
            writer.append(Kind.node.rawValue)
            writer.append(count: index)
        case .key(let key, let value):
            writer.append(Kind.key.rawValue)
            writer.append(string: key)
            value.append(to: &writer)
        case .delete(let name):
            writer.append(Kind.delete.rawValue)
            name.append(to: &writer)
        case .collection(let key, let operation):
            let (kind, numbers, elements) = try parts(of: operation)
            writer.append(kind.rawValue)
            writer.append(string: key)
            for number in numbers { writer.append(count: max(0, number)) }
            writer.append(count: elements.count)
            for element in elements { element.append(to: &writer) }
        }
    }

    private static func parts(
        of operation: CollectionOperation
    ) throws(FormatError) -> (kind: Kind, numbers: [Int], elements: [ValueDraft]) {
        switch operation {
        case .replaceAll(let elements): (.replaceAll, [], elements)
        case .appendNew(let elements): (.appendNew, [], elements)
        case .move(let source, let destination): (.move, [source, destination], [])
        case .edit(let edit):
            if let range = edit.range {
                (.edit, [range.lowerBound, range.upperBound], edit.elements)
            } else {
                (.append, [], edit.elements)
            }
        case .editNew(let edit):
            (.editNew, [edit.range?.lowerBound ?? 0, edit.range?.upperBound ?? 0], edit.elements)
        // A closure has no bytes. No batch has such a step.
        case .removeAll: throw FormatError.malformed("a step that can't be stored")
        }
    }

    fileprivate init(reading reader: inout ByteReader) throws(FormatError) {
        tree = try FlattenedTree(reading: &reader)
        var steps: [Step] = []
        for _ in 0..<(try reader.count()) {
            steps.append(try Self.readStep(&reader, nodeCount: tree.count))
        }
        self.steps = steps
    }

    private static func readStep(
        _ reader: inout ByteReader, nodeCount: Int
    ) throws(FormatError) -> Step {
        guard let kind = Kind(rawValue: try reader.byte()) else {
            throw .malformed("an unknown step")
        }
        switch kind {
        case .node: return .root(try reader.index(below: nodeCount))
        case .delete:
            let name = try RecordName(reading: &reader)
            return .delete(name)
        case .key, .replaceAll, .edit, .append, .appendNew, .move, .editNew: break
        }
        let key = try reader.string(count: reader.count())
        if kind == .key { return .key(key, try ValueDraft(reading: &reader, nodeCount: nodeCount)) }
        var numbers: [Int] = []
        if [.edit, .editNew, .move].contains(kind) {
            for _ in 0..<2 { numbers.append(try reader.index(below: .max)) }
        }
        var elements: [ValueDraft] = []
        for _ in 0..<(try reader.count()) {
            elements.append(try ValueDraft(reading: &reader, nodeCount: nodeCount))
        }
        switch kind {
        case .replaceAll: return .collection(key, .replaceAll(elements))
        case .appendNew: return .collection(key, .appendNew(elements))
        case .append: return .collection(key, .edit(.append(elements)))
        case .move: return .collection(key, .move(from: numbers[0], to: numbers[1]))
        default:
            guard numbers[0] <= numbers[1] else { throw .malformed("a range of a collection") }
            let edit = CollectionEdit(range: numbers[0]..<numbers[1], elements: elements)
            return .collection(key, kind == .edit ? .edit(edit) : .editNew(edit))
        }
    }
}
