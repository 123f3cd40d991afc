public import EspalierModels
public import EspalierRecords

/// A person of the tests, with a number that writers count up.
public struct Member: NormalizedModel, Sendable, Equatable {
    public var id: String
    public var name: String
    public var count: Int
    public var modelIdentifier: String? { "Member:\(id)" }

    public init(_ id: String, _ name: String = "", count: Int = 0) {
        self.id = id
        self.name = name
        self.count = count
    }

    public init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
        count = try decoder.decode(forKey: "count")
    }

    public func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        try encoder.encode(count, forKey: "count")
    }
}

/// A team with its members, some of which may be missing.
public struct Team: NormalizedModel, Sendable, Equatable {
    public var id: String
    public var title: String
    public var lead: Member?
    public var members: [Member]
    public var modelIdentifier: String? { "Team:\(id)" }

    public init(_ id: String, _ title: String, lead: Member? = nil, _ members: [Member]) {
        self.id = id
        self.title = title
        self.lead = lead
        self.members = members
    }

    public init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        title = try decoder.decode(forKey: "title")
        lead = try decoder.decode(forKey: "lead")
        members = try decoder.decode(forKey: "members")
    }

    public func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(title, forKey: "title")
        try encoder.encode(lead, forKey: "lead")
        try encoder.encode(members, forKey: "members")
    }
}

/// Two members that change together and are on one server.
public struct Pair: NormalizedModel, Sendable, Equatable {
    public var id: String
    public var left: Member
    public var right: Member
    public var modelIdentifier: String? { "Pair:\(id)" }

    /// - Parameter id: With the braces that keep the members on the server of the pair.
    public init(_ id: String, _ count: Int) {
        self.id = id
        left = Member("\(id)left", count: count)
        right = Member("\(id)right", count: count)
    }

    public init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        left = try decoder.decode(forKey: "left")
        right = try decoder.decode(forKey: "right")
    }

    public func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(left, forKey: "left")
        try encoder.encode(right, forKey: "right")
    }
}
