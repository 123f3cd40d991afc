import Feeds

/// The floor: LMDB and a codec by hand for these five types. There is nothing that is not needed
/// here: no check of what is read, no shapes, no limits, no eviction, no comparing with what is
/// there already.
///
/// `index` has handles by kind and identifier, `nodes` records by handle. What is deleted keeps its
/// handle, so that what refers to it finds it when it is written again.
final class LMDBFloor: Contender {
    private let directory: String
    private let durability: Durability
    private var opened: FloorEnvironment?

    init(directory: String, durability: Durability) throws {
        self.directory = directory
        self.durability = durability
    }

    func open() throws {
        opened = try FloorEnvironment(directory: directory, durability: durability)
    }

    func close() throws { opened = nil }

    private var environment: FloorEnvironment {
        get throws {
            guard let opened else { throw ComparisonError.missing("an open environment") }
            return opened
        }
    }

    private func reading<Result>(_ body: (inout FloorReading) throws -> Result) throws -> Result {
        let environment = try environment
        return try environment.read { transaction in
            var reading = FloorReading(environment, transaction)
            return try body(&reading)
        }
    }

    private func writing(_ body: (inout FloorWriting, FloorTransaction) throws -> Void) throws {
        let environment = try environment
        try environment.write { transaction in
            var writing = try FloorWriting(environment, transaction)
            try body(&writing, transaction)
            try writing.finish()
        }
    }

    func write(_ feed: Feed) throws { try writing { writing, _ in try writing.write(feed) } }

    func read(_ feed: String) throws -> FeedRead? {
        let found = try reading { reading in
            try reading.handle(.feed, feed).flatMap { try reading.feed($0) }
        }
        return found.map { feed in FeedRead(feed) }
    }

    func person(_ id: String, shownIn feed: String) throws -> Person? {
        try reading { reading in
            try reading.handle(.person, id).flatMap { try reading.freshPerson($0) }
        }
    }

    func update(_ person: Person, shownIn feeds: [String]) throws {
        try writing { writing, _ in _ = try writing.write(person) }
    }

    func delete(person id: String, shownIn feeds: [String]) throws {
        let environment = try environment
        try environment.write { transaction in
            guard let handle = try FloorReading(environment, transaction).handle(.person, id) else {
                return
            }
            try withUnsafeBytes(of: handle.number.bigEndian) {
                try transaction.delete(environment.nodes, $0)
            }
        }
    }

    func setCollection(_ people: [Person], forKey key: String) throws {
        try add(people, toCollection: key, replacing: true)
    }

    func append(_ page: [Person], to current: [Person], forKey key: String) throws {
        try add(page, toCollection: key, replacing: false)
    }

    private func add(_ people: [Person], toCollection key: String, replacing: Bool) throws {
        let environment = try environment
        try writing { writing, transaction in
            var handles: [RecordHandle] = []
            handles.reserveCapacity(people.count)
            for person in people { handles.append(try writing.write(person)) }
            let list = FloorLists(environment, transaction, key: key)
            if replacing { try list.removeAll() }
            try list.append(handles)
        }
    }

    func collection(forKey key: String) throws -> [Person]? {
        let environment = try environment
        return try reading { reading in
            var people: [Person] = []
            var isThere = false
            let list = FloorLists(environment, reading.transaction, key: key)
            try list.forEachChunk { chunk in
                // LMDB's values have an address, also empty ones
                var reader = HandReader(chunk.baseAddress!)
                for _ in 0..<chunk.count / 8 {
                    if let person = try reading.freshPerson(RecordHandle(from: &reader)) {
                        people.append(person)
                    }
                }
                isThere = true
            }
            return isThere ? people : nil
        }
    }
}
