/// Makes random trees.
///
/// Unless `conflictingNames` is set, trees are consistent: one identifier stands for one content,
/// projections agree on the field they share, and no model stands inside itself, so what is read
/// back equals what was written.
package struct TreeGenerator {
    package var random: SeededGenerator
    package var knobs: TreeKnobs
    private var sizeLeft = 0
    private var lastNumber = 0
    private var finished: [TreeKind: [TreeModel]] = [:]
    private var summaries: [String: TreeModel] = [:]

    package init(_ random: SeededGenerator, knobs: TreeKnobs = TreeKnobs()) {
        self.random = random
        self.knobs = knobs
    }

    /// Makes a tree whose root has an identifier. Trees of one generator share no identifiers
    /// unless names conflict.
    package mutating func tree(_ kind: TreeKind = .node) -> TreeModel {
        finished = [:]
        summaries = [:]
        sizeLeft = knobs.size
        return model(kind, depth: 0, isRoot: true)
    }

    private mutating func model(_ kind: TreeKind, depth: Int, isRoot: Bool = false) -> TreeModel {
        sizeLeft -= 1
        lastNumber += 1
        let identifier = identifier(of: kind, isRoot: isRoot)
        var values: [String: TreeValue] = [:]
        for field in kind.fields {
            values[field.name] = value(of: field, depth: depth)
        }
        let model = TreeModel(kind: kind, identifier: identifier, values: values)
        if identifier != nil { finished[kind, default: []].append(model) }
        return model
    }

    private mutating func value(of field: TreeKind.Field, depth: Int) -> TreeValue {
        switch field.content {
        case .scalar: return .scalar(scalar())
        case .optionalScalar: return .scalar(random.happens(knobs.emptiness) ? nil : scalar())
        case .required(let kind): return .child(child(kind, depth: depth))
        case .optional(let kind), .array(let kind), .nested(let kind), .dictionary(let kind):
            var value = TreeValue.empty(field.content) ?? .child(nil)
            guard depth < knobs.depth, sizeLeft > 0, !random.happens(knobs.emptiness) else {
                return value
            }
            if kind == .summary, knobs.conflictingNames != nil, !random.happens(knobs.projections) {
                return value
            }
            let isSingle = if case .optional = field.content { true } else { false }
            for _ in 0..<(isSingle ? 1 : Int.random(in: 1...max(1, knobs.width), using: &random))
            where sizeLeft > 0 {
                value = value.adding(child(kind, depth: depth))
            }
            return value
        }
    }

    private mutating func child(_ kind: TreeKind, depth: Int) -> TreeModel {
        if kind == .summary, knobs.conflictingNames == nil, random.happens(knobs.projections),
            let summary = projection()
        {
            return summary
        }
        if random.happens(knobs.sharing), let known = shared(kind) { return known }
        return model(kind, depth: depth + 1)
    }

    /// Returns a model that stands elsewhere, if its size fits: the size of the tree counts a
    /// shared model for each occurrence.
    private mutating func shared(_ kind: TreeKind) -> TreeModel? {
        guard let known = finished[kind]?.randomElement(using: &random), known.size <= sizeLeft
        else { return nil }
        sizeLeft -= known.size
        return known
    }

    /// Returns the summary of a node that stands in the tree. Its cover must not contain that node,
    /// which would be a cycle.
    private mutating func projection() -> TreeModel? {
        guard let node = finished[.node]?.randomElement(using: &random),
            let identifier = node.identifier
        else {
            return nil
        }
        if let known = summaries[identifier] {
            guard known.size <= sizeLeft else { return nil }
            sizeLeft -= known.size
            return known
        }
        let cover = shared(.node).flatMap { $0.contains(identifier: identifier) ? nil : $0 }
        let summary = TreeModel(
            kind: .summary, identifier: identifier,
            values: [
                "badge": .scalar(scalar()), "title": node.values["title"] ?? .scalar(nil),
                "cover": .child(cover),
            ])
        summaries[identifier] = summary
        return summary
    }

    private mutating func identifier(of kind: TreeKind, isRoot: Bool) -> String? {
        if kind.isInline { return nil }
        if let names = knobs.conflictingNames {
            return "\(kind.family):\(Int.random(in: 0..<names, using: &random))"
        }
        if !isRoot, random.happens(knobs.inlineShare) { return nil }
        // A summary that is no node's projection gets a name of its own.
        return "\(kind.rawValue):\(lastNumber)"
    }

    private mutating func scalar() -> TreeScalar {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: .bool(Bool.random(using: &random))
        case 1:
            .integer(
                Int64.random(in: .min ... .max, using: &random)
                    >> Int64.random(in: 0..<64, using: &random))
        case 2: .double(Double.random(in: -1e9...1e9, using: &random))
        case 3:
            .string(
                String(
                    "añ猫🐈\u{0} b".shuffled(using: &random).prefix(
                        Int.random(in: 0...7, using: &random))))
        default:
            .bytes(
                (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt8.random(in: .min ... .max, using: &random)
                })
        }
    }
}

/// The form of random trees.
package struct TreeKnobs: Sendable, Hashable {
    /// The most models of a tree, required ones apart.
    package var size = 40
    /// The most levels, required ones apart.
    package var depth = 6
    /// The most children of one field.
    package var width = 4
    /// How often a field that may be empty is empty.
    package var emptiness = 0.6
    /// How often a child is a model that stands elsewhere in the tree.
    package var sharing = 0.3
    /// How often a model that could have an identifier has none.
    package var inlineShare = 0.15
    /// How often a node's view is a projection of a node that stands elsewhere in the tree. Where
    /// names conflict: how often it may have a view at all.
    package var projections = 0.5
    /// The number of names a family, if identifiers conflict: models with the same identifier then
    /// differ, and may contain themselves.
    package var conflictingNames: Int?

    package init() {}
}
