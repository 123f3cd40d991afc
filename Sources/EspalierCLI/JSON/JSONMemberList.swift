/// The members of an object while it is parsed: of duplicate names the last value wins, in the
/// place of the first.
struct JSONMemberList {
    /// Up to here a look along the list is faster than hashing every name.
    private static let linearSearchLimit = 12

    private(set) var members: [JSONMember] = []
    private var positions: [ByteName: Int] = [:]

    mutating func insert(_ member: JSONMember) {
        if let position = position(of: member.name) {
            members[position].value = member.value
            return
        }
        members.append(member)
        if members.count == Self.linearSearchLimit + 1 {
            for (position, member) in members.enumerated() {
                positions[ByteName(name: member.name)] = position
            }
        } else if members.count > Self.linearSearchLimit {
            positions[ByteName(name: member.name)] = members.count - 1
        }
    }

    func contains(_ name: String) -> Bool { position(of: name) != nil }

    private func position(of name: String) -> Int? {
        if members.count <= Self.linearSearchLimit {
            return members.firstIndex { $0.name.hasSameBytes(as: name) }
        }
        return positions[ByteName(name: name)]
    }

    private struct ByteName: Hashable {
        var name: String

        static func == (left: ByteName, right: ByteName) -> Bool {
            left.name.hasSameBytes(as: right.name)
        }

        // String's own hash gives equivalent strings one hash, and so gives equal bytes one hash
        // too.
        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}
