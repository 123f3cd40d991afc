/// Builds a tree by choices, so that stepping through the choices gives every tree.
struct SmallTree {
    private let identifiers: SmallTreeIdentifiers
    private var modelsLeft: Int
    private var modelCount: Int64 = 0
    private var finished: [TreeKind: [TreeModel]] = [:]

    static func build(
        _ choices: inout Choices, nodes: Int, identifiers: SmallTreeIdentifiers
    ) -> TreeModel {
        let kinds = TreeKind.allCases.filter { !$0.isInline && $0.minimumSize <= nodes }
        var tree = SmallTree(identifiers: identifiers, modelsLeft: nodes)
        return tree.model(kinds[choices.choose(kinds.count)], isRoot: true, &choices)
    }

    private init(identifiers: SmallTreeIdentifiers, modelsLeft: Int) {
        self.identifiers = identifiers
        self.modelsLeft = modelsLeft
    }

    private mutating func model(_ kind: TreeKind, isRoot: Bool = false, _ choices: inout Choices)
        -> TreeModel
    {
        modelsLeft -= 1
        modelCount += 1
        let number = modelCount
        let identifier = identifier(of: kind, number: number, isRoot: isRoot, &choices)
        var values: [String: TreeValue] = [:]
        // The models that later fields require are kept back from earlier fields.
        var reserved = kind.fields.filter(\.content.isRequiredChild).reduce(0) {
            $0 + ($1.content.child?.minimumSize ?? 0)
        }
        for field in kind.fields where field.content == .scalar {
            values[field.name] = .scalar(.integer(number))
        }
        for field in kind.fields where field.content == .optionalScalar {
            values[field.name] = .scalar(number % 2 == 0 ? .string("t\(number)") : nil)
        }
        for field in kind.fields {
            guard let child = field.content.child else { continue }
            if field.content.isRequiredChild {
                reserved -= child.minimumSize
                values[field.name] = .child(self.child(child, &choices))
            } else {
                values[field.name] = optional(field, child, reserved, &choices)
            }
        }
        let model = TreeModel(kind: kind, identifier: identifier, values: values)
        if identifier != nil, identifiers == .consistent {
            finished[kind, default: []].append(model)
        }
        return model
    }

    private mutating func optional(
        _ field: TreeKind.Field, _ kind: TreeKind, _ reserved: Int, _ choices: inout Choices
    ) -> TreeValue {
        var value = TreeValue.empty(field.content) ?? .child(nil)
        while modelsLeft - reserved >= kind.minimumSize, choices.chooseBool() {
            value = value.adding(child(kind, reserved: reserved, &choices))
            if case .child = value { break }
        }
        return value
    }

    private mutating func child(_ kind: TreeKind, reserved: Int = 0, _ choices: inout Choices)
        -> TreeModel
    {
        let known = finished[kind] ?? []
        let choice = choices.choose(known.count + 1)
        if choice > 0 {
            modelsLeft -= 1
            return known[choice - 1]
        }
        modelsLeft -= reserved
        defer { modelsLeft += reserved }
        return model(kind, &choices)
    }

    private func identifier(
        of kind: TreeKind, number: Int64, isRoot: Bool, _ choices: inout Choices
    ) -> String? {
        if kind.isInline { return nil }
        switch identifiers {
        case .consistent:
            return isRoot || choices.chooseBool() ? "\(kind.family):\(number)" : nil
        case .conflicting(let names):
            return "\(kind.family):\(choices.choose(names))"
        }
    }
}

/// How the models of small trees get their identifiers.
package enum SmallTreeIdentifiers: Sendable, Hashable {
    /// Each model gets a new identifier or none, and may stand in several places. A read gives what
    /// was written.
    case consistent
    /// Each model gets one of so many names of its family: models of one name differ in content,
    /// and may contain themselves.
    case conflicting(names: Int)
}

/// Runs `body` with every tree of at most `nodes` models. Returns their number.
@discardableResult
package func withEverySmallTree(
    upTo nodes: Int, identifiers: SmallTreeIdentifiers = .consistent,
    _ body: (TreeModel) throws -> Void
) rethrows -> Int {
    try withEveryChoice { choices in
        try body(SmallTree.build(&choices, nodes: nodes, identifiers: identifiers))
    }
}
