import Feeds

/// The records of one transaction.
struct FloorReading: HandSource {
    let environment: FloorEnvironment
    let transaction: FloorTransaction
    /// Made once in a read: half of the nodes of a feed are people, many of them the same.
    private var people: [RecordHandle: Person] = [:]

    init(_ environment: FloorEnvironment, _ transaction: FloorTransaction) {
        self.environment = environment
        self.transaction = transaction
    }

    func handle(_ kind: FloorWriting.Kind, _ identifier: String) throws -> RecordHandle? {
        var key = HandWriter(capacity: 64)
        key.varint(kind.rawValue)
        key.unprefixed(identifier)
        return try key.withBytes { key in
            try transaction.get(environment.index, key).map { RecordHandle($0.loadUnaligned(as: UInt64.self)) }
        }
    }

    private func record(_ handle: RecordHandle) throws -> HandReader? {
        try withUnsafeBytes(of: handle.number.bigEndian) { key in
            try transaction.get(environment.nodes, key)?.baseAddress.map(HandReader.init)
        }
    }

    func feedRecord(_ handle: RecordHandle) throws -> HandReader? { try record(handle) }
    func postRecord(_ handle: RecordHandle) throws -> HandReader? { try record(handle) }
    func commentRecord(_ handle: RecordHandle) throws -> HandReader? { try record(handle) }

    mutating func person(_ handle: RecordHandle) throws -> Person? {
        if let made = people[handle] { return made }
        let person = try freshPerson(handle)
        people[handle] = person
        return person
    }

    /// Of a list, in which each is once.
    func freshPerson(_ handle: RecordHandle) throws -> Person? {
        guard var record = try record(handle) else { return nil }
        return record.person()
    }
}
