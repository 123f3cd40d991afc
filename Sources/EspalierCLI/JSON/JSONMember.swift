/// One name and its value in a JSON object.
struct JSONMember: Sendable {
    var name: String
    var value: JSONValue
}

extension JSONMember: Equatable {
    static func == (left: JSONMember, right: JSONMember) -> Bool {
        left.name.hasSameBytes(as: right.name) && left.value == right.value
    }
}
