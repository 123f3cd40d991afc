/// The final names of all declarations.
///
/// A name does not depend on the order of the declarations: if two types want the same short name,
/// and neither is primary, both get their long one.
struct TypeNames {
    /// By the index of the declaration.
    let names: [String]
    /// The name of the type for any JSON.
    let any: String

    init(_ models: ModelSet) {
        let declarations = models.declarations
        let wanted = Dictionary(grouping: declarations.indices) { declarations[$0].shortName }
        var unique = UniqueNames(reserved: Words.reservedTypes, suffix: "Model")
        var names = declarations.map { _ in "" }
        // Primary types first, then those that are alone with their name, then all others.
        func rank(_ index: Int) -> Int {
            if declarations[index].isPrimary { return 0 }
            return wanted[declarations[index].shortName]?.count == 1 ? 1 : 2
        }
        for rankInTurn in 0...2 {
            for index in declarations.indices where rank(index) == rankInTurn {
                let declaration = declarations[index]
                names[index] =
                    rankInTurn < 2
                    ? unique.take(declaration.shortName, orElse: declaration.longName)
                    : unique.take(declaration.longName)
            }
        }
        any = unique.take(models.rootName + "JSON")
        self.names = names
    }

    func text(_ type: ValueType) -> String {
        switch type {
        case .bool: "Bool"
        case .integer: "Int"
        case .unsigned: "UInt64"
        case .number: "Double"
        case .string: "String"
        case .date: "Date"
        case .url: "URL"
        case .uuid: "UUID"
        case .any: any
        case .declared(let index): names[index]
        case .array(let element): "[\(text(element))]"
        case .dictionary(let value): "[String: \(text(value))]"
        case .optional(let wrapped): "\(text(wrapped))?"
        }
    }
}

extension ModelSet {
    /// The declarations that contain themselves without an array or a dictionary between. An object
    /// of them has to be a class, and a union `indirect`.
    var recursive: Set<Int> {
        let contained = declarations.map { declaration -> Set<Int> in
            switch declaration.body {
            case .object(let object): Set(object.members.compactMap(\.type.contained))
            case .union(let union): Set(union.cases.compactMap(\.type.contained))
            case .enumeration: []
            }
        }
        return Set(
            declarations.indices.filter { start in
                var seen: Set<Int> = []
                var next = Array(contained[start])
                while let index = next.popLast() {
                    if index == start { return true }
                    if seen.insert(index).inserted { next += contained[index] }
                }
                return false
            })
    }

    /// Whether a type stands anywhere in the set.
    func uses(_ type: ValueType) -> Bool {
        root?.mentions(type) == true
            || declarations.contains { declaration in
                switch declaration.body {
                case .object(let object): object.members.contains { $0.type.mentions(type) }
                // A union has a case for any other JSON.
                case .union(let union):
                    type == .any || union.cases.contains { $0.type.mentions(type) }
                case .enumeration: false
                }
            }
    }
}
