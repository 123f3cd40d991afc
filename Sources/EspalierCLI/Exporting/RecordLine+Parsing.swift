import EspalierRecords

extension RecordLine {
    /// The record that a line says. Values are looked at when it is restored.
    init(_ json: JSONValue) throws(LineProblem) {
        guard case .object(var members) = json else { throw LineProblem("a record is an object") }
        let kind = try Self.text("kind", try Self.take("kind", from: &members))
        identifier = try Self.text("identifier", try Self.take("identifier", from: &members))
        guard !identifier.isEmpty else { throw LineProblem("an identifier is not empty") }
        switch kind {
        case RecordName.Kind.node.rawValue: content = try Self.node(&members)
        case RecordName.Kind.key.rawValue: content = .key(try Self.take("value", from: &members))
        case RecordName.Kind.collection.rawValue:
            guard case .array(let elements) = try Self.take("elements", from: &members) else {
                throw LineProblem("elements is an array")
            }
            content = .collection(elements)
        default: throw LineProblem("the kind \(kind) is none of node, key and collection")
        }
        if let rest = members.first { throw LineProblem("a \(kind) has no member \(rest.name)") }
    }

    private static func node(_ members: inout [JSONMember]) throws(LineProblem) -> Content {
        let types = try names("types", try take("types", from: &members))
        guard types.count <= Shape.maximumTypes else {
            throw LineProblem("a node has at most \(Shape.maximumTypes) types")
        }
        guard Set(types.map(Identifier.init)).count == types.count else {
            throw LineProblem("types names one twice")
        }
        guard case .object(let fields) = try take("fields", from: &members) else {
            throw LineProblem("fields is an object")
        }
        guard case .object(var declarers) = takeIfThere("declarers", from: &members) ?? .object([])
        else {
            throw LineProblem("declarers is an object")
        }
        guard case .bool(let isOnCycle) = takeIfThere("onCycle", from: &members) ?? false else {
            throw LineProblem("onCycle is true or false")
        }
        var parsed: [Field] = []
        parsed.reserveCapacity(fields.count)
        for field in fields {
            var bits = Field.allTypes(types.count)
            if let names = takeIfThere(field.name, from: &declarers) {
                bits = try self.bits(of: names, types)
            }
            parsed.append(Field(name: field.name, value: field.value, declarers: bits))
        }
        if let rest = declarers.first {
            throw LineProblem("declarers names \(rest.name), which is no field")
        }
        return .node(types: types, fields: parsed, isOnCycle: isOnCycle)
    }

    private static func bits(of json: JSONValue, _ types: [String]) throws(LineProblem) -> UInt64 {
        var bits: UInt64 = 0
        for name in try names("a field's declarers", json) {
            guard let index = types.firstIndex(where: { $0.hasSameBytes(as: name) }) else {
                throw LineProblem("declarers names \(name), which is no type of the node")
            }
            bits |= 1 << UInt64(index)
        }
        return bits
    }

    private static func names(_ what: String, _ json: JSONValue) throws(LineProblem) -> [String] {
        guard case .array(let elements) = json else {
            throw LineProblem("\(what) is an array of names")
        }
        var names: [String] = []
        for element in elements {
            guard case .string(let name) = element else {
                throw LineProblem("\(what) is an array of names")
            }
            names.append(name)
        }
        return names
    }

    private static func text(_ what: String, _ json: JSONValue) throws(LineProblem) -> String {
        guard case .string(let text) = json else { throw LineProblem("\(what) is a string") }
        return text
    }

    private static func take(_ name: String, from members: inout [JSONMember]) throws(LineProblem)
        -> JSONValue
    {
        guard let value = takeIfThere(name, from: &members) else {
            throw LineProblem("\(name) is missing")
        }
        return value
    }

    private static func takeIfThere(_ name: String, from members: inout [JSONMember]) -> JSONValue?
    {
        guard !members.isEmpty,
            let index = members.firstIndex(where: { $0.name.hasSameBytes(as: name) })
        else {
            return nil
        }
        return members.remove(at: index).value
    }
}
