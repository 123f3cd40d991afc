import EspalierRecords

extension RecordLine {
    /// Where two records of one kind say something else.
    func differences(from other: RecordLine) -> [FieldDifference] {
        var comparison = ValueComparison()
        switch (content, other.content) {
        case (.node(let types, let fields, _), .node(let otherTypes, let otherFields, _)):
            comparison.compareNames("$types", types, otherTypes)
            let others = Dictionary(
                otherFields.map { (Identifier($0.name), $0) },
                uniquingKeysWith: { first, _ in first })
            let names = Set(fields.map { Identifier($0.name) })
            for field in fields {
                let path = FieldPath(steps: [.name(field.name)])
                let other = others[Identifier(field.name)]
                comparison.compare(field.value, toOptional: other?.value, at: path)
                guard let other else { continue }
                comparison.compareNames(
                    "$declarers.\(path)", field.declaringTypes(of: types),
                    other.declaringTypes(of: otherTypes),
                    unless: (types, otherTypes))
            }
            for field in otherFields where !names.contains(Identifier(field.name)) {
                comparison.add(FieldPath(steps: [.name(field.name)]), .nothing, .value(field.value))
            }
        case (.collection(let elements), .collection(let others)):
            if elements.count != others.count {
                let counts = [elements, others].map { JSONValue.number(JSONNumber($0.count)) }
                comparison.add("$count", .value(counts[0]), .value(counts[1]))
            }
            comparison.compare(contentJSON, other.contentJSON)
        default: comparison.compare(contentJSON, other.contentJSON)
        }
        return comparison.differences
    }
}

extension ValueComparison {
    /// Compares sets of names. Two that are both all of their kind say nothing that `$types` does
    /// not.
    fileprivate mutating func compareNames(
        _ path: String, _ a: [String], _ b: [String], unless all: (a: [String], b: [String])? = nil
    ) {
        if let all, a.count == all.a.count, b.count == all.b.count { return }
        let (left, right) = (a.sortedByBytes, b.sortedByBytes)
        guard left.map(Identifier.init) != right.map(Identifier.init) else { return }
        add(
            path, .value(.array(left.map { .string($0) })),
            .value(.array(right.map { .string($0) })))
    }
}

extension [String] {
    fileprivate var sortedByBytes: [String] {
        sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
