/// Flattened trees as bytes, for writes that are kept on disk and applied again later.
///
///     tree   = values, children, types, shapes, nodes, others, mixed, nulls, ages, [age], rules,
///              policy
///     values = count, bytes                children = count, then a node's index each
///     types  = count, then a string each   shapes   = count, then a description each
///     nodes  = count, then each: identifier, 1 if it is on a cycle, part
///     others = count, then each: a node's index, count, parts
///     part   = type, shape, two ranges (values, children), 1 if it is a case
///     mixed  = count, then a node's index each
///     nulls  = count, then each: position, count, slots
///     ages   = count, then each: seconds + 1, or 0        age = seconds + 1, or 0
///     rules  = count, then each: 0, or 1, count, names with their rules, count, names
///     policy = 0 if no node merges, 1 if all do, or 2, count, the types of those that merge
///
/// All numbers are varints. A function that combines values has no bytes: a field with such a rule
/// is overwritten where the tree is applied again.
extension FlattenedTree {
    /// Appends the tree to `writer`.
    package func append(to writer: inout ByteWriter) {
        writer.append(count: values.count)
        writer.append(values)
        writer.append(indexes: children)
        writer.append(count: types.count)
        for type in types { writer.append(string: type) }
        writer.append(count: shapes.count)
        for shape in shapes { writer.append(shape.description) }
        writer.append(count: entries.count)
        for entry in entries {
            writer.append(string: entry.identifier)
            writer.append(count: entry.isOnCycle ? 1 : 0)
            append(entry.first, to: &writer)
        }
        writer.append(count: others.count)
        for (index, parts) in others.sorted(by: { $0.key < $1.key }) {
            writer.append(count: index)
            writer.append(count: parts.count)
            for part in parts { append(part, to: &writer) }
        }
        writer.append(indexes: mixed.sorted())
        writer.append(count: explicitNulls.count)
        for (position, slots) in explicitNulls.sorted(by: { $0.key < $1.key }) {
            writer.append(count: position)
            writer.append(indexes: slots.sorted())
        }
        writer.append(count: maxAges.count)
        for age in maxAges { writer.append(age: age) }
        writer.append(age: maxAge)
        writer.append(count: rules.count)
        for rules in rules { Self.append(rules, to: &writer) }
        let merging = mergingTypes.indices.filter { mergingTypes[$0] }
        writer.append(count: mergesAll ? 1 : merging.isEmpty ? 0 : 2)
        if !mergesAll, !merging.isEmpty { writer.append(indexes: merging) }
    }

    private func append(_ part: Part, to writer: inout ByteWriter) {
        for number in [
            part.type, part.shape, part.values.lowerBound, part.values.upperBound,
            part.children.lowerBound, part.children.upperBound, part.isCase ? 1 : 0,
        ] {
            writer.append(count: number)
        }
    }

    private static func append(_ rules: TypeRules?, to writer: inout ByteWriter) {
        guard let rules else { return writer.append(count: 0) }
        writer.append(count: 1)
        let known = rules.rules.all.compactMap { name, rule in
            rule.code.map { (name: name.string, code: $0, field: rule.comparedField) }
        }
        writer.append(count: known.count)
        for rule in known.sorted(by: { $0.name < $1.name }) {
            writer.append(string: rule.name)
            writer.append(rule.code)
            if let field = rule.field { writer.append(string: field) }
        }
        writer.append(count: rules.fields.count)
        for name in rules.fields.map(\.string).sorted() { writer.append(string: name) }
    }

    /// Reads a tree.
    ///
    /// - Throws: A `FormatError` if the bytes are no tree; a position in it never lies outside.
    package init(reading reader: inout ByteReader) throws(FormatError) {
        values = try reader.bytes(count: reader.count())
        children = try reader.indexes()
        for _ in 0..<(try reader.count()) { types.append(try reader.string(count: reader.count())) }
        for _ in 0..<(try reader.count()) { shapes.append(try Shape.read(from: &reader)) }
        for _ in 0..<(try reader.count()) {
            let identifier = try reader.string(count: reader.count())
            let isOnCycle = try reader.varint() == 1
            entries.append(
                Entry(
                    identifier: identifier, first: try readPart(&reader), isOnCycle: isOnCycle))
        }
        guard children.allSatisfy(entries.indices.contains) else { throw Self.outside }
        for _ in 0..<(try reader.count()) {
            let index = try reader.index(below: entries.count)
            var parts: [Part] = []
            for _ in 0..<(try reader.count()) { parts.append(try readPart(&reader)) }
            others[index] = parts
        }
        mixed = Set(try reader.indexes())
        for _ in 0..<(try reader.count()) {
            let position = try reader.index(below: values.count + 1)
            explicitNulls[position] = Set(try reader.indexes())
        }
        for _ in 0..<(try reader.count()) { maxAges.append(try reader.age()) }
        maxAge = try reader.age()
        for _ in 0..<(try reader.count()) { rules.append(try Self.readRules(&reader)) }
        try readPolicy(&reader)
        guard maxAges.isEmpty || maxAges.count == types.count,
            rules.isEmpty || rules.count == types.count
        else { throw Self.outside }
        byteCount = values.count
    }

    private mutating func readPolicy(_ reader: inout ByteReader) throws(FormatError) {
        let policy = try reader.varint()
        guard policy <= 2 else { throw .malformed("an unknown policy") }
        mergesAll = policy == 1
        merges = policy > 0
        guard policy == 2 else { return }
        mergingTypes = Array(repeating: false, count: types.count)
        for type in try reader.indexes() {
            guard type < types.count else { throw Self.outside }
            mergingTypes[type] = true
        }
    }

    private static let outside = FormatError.malformed("a position outside of its tree")

    private func readPart(_ reader: inout ByteReader) throws(FormatError) -> Part {
        var part = Part(type: try reader.index(below: types.count))
        part.shape = try reader.index(below: shapes.count)
        part.values = try reader.range(in: values.count)
        part.children = try reader.range(in: children.count)
        part.isCase = try reader.varint() == 1
        return part
    }

    private static func readRules(
        _ reader: inout ByteReader
    ) throws(FormatError) -> TypeRules? {
        guard try reader.varint() == 1 else { return nil }
        var rules: [String: MergeRule] = [:]
        for _ in 0..<(try reader.count()) {
            let name = try reader.string(count: reader.count())
            rules[name] = try MergeRule(reading: &reader)
        }
        var fields: Set<Identifier> = []
        for _ in 0..<(try reader.count()) {
            fields.insert(Identifier(try reader.string(count: reader.count())))
        }
        return TypeRules(rules: MergeRules(rules), fields: fields)
    }
}

extension MergeRule {
    /// The byte that stands for the rule; nil for a function.
    fileprivate var code: UInt8? {
        switch kind {
        case .overwrite: 0
        case .keepFirst: 1
        case .union: 2
        case .append: 3
        case .newest: 4
        case .combined: nil
        }
    }

    /// The field that decides which value is newer.
    fileprivate var comparedField: String? {
        guard case .newest(let field) = kind else { return nil }
        return field
    }

    fileprivate init(reading reader: inout ByteReader) throws(FormatError) {
        switch try reader.byte() {
        case 0: self = .overwrite
        case 1: self = .keepFirst
        case 2: self = .union
        case 3: self = .append
        case 4: self = .newest(by: try reader.string(count: reader.count()))
        default: throw .malformed("an unknown rule")
        }
    }
}

extension ValueDraft {
    /// Appends the value to `writer`: the bytes and the children, each after their number.
    package func append(to writer: inout ByteWriter) {
        writer.append(count: bytes.count)
        writer.append(bytes)
        writer.append(indexes: children)
    }

    /// Reads a value of a tree with `nodeCount` nodes.
    package init(reading reader: inout ByteReader, nodeCount: Int) throws(FormatError) {
        let bytes = try reader.bytes(count: reader.count())
        let children = try reader.indexes()
        guard children.allSatisfy({ (0..<nodeCount).contains($0) }) else {
            throw .malformed("a child outside of its tree")
        }
        self.init(bytes: bytes, children: children)
    }
}

extension ByteWriter {
    package mutating func append(count: Int) { append(varint: UInt64(count)) }

    package mutating func append(indexes: [Int]) {
        append(count: indexes.count)
        for index in indexes { append(count: index) }
    }

    /// Appends how old something may be, in seconds; nil if it does not expire.
    package mutating func append(age: UInt64?) { append(varint: age.map { $0 &+ 1 } ?? 0) }
}

extension ByteReader {
    package mutating func indexes() throws(FormatError) -> [Int] {
        var indexes: [Int] = []
        for _ in 0..<(try count()) { indexes.append(try index(below: .max)) }
        return indexes
    }

    package mutating func index(below end: Int) throws(FormatError) -> Int {
        let index = try varint()
        guard index < UInt64(end) else { throw .malformed("an index outside of its tree") }
        return Int(index)
    }

    package mutating func age() throws(FormatError) -> UInt64? {
        let age = try varint()
        return age == 0 ? nil : age - 1
    }

    fileprivate mutating func range(in count: Int) throws(FormatError) -> Range<Int> {
        let start = try index(below: count + 1)
        let end = try index(below: count + 1)
        guard start <= end else { throw .malformed("a range that ends before it begins") }
        return start..<end
    }
}
