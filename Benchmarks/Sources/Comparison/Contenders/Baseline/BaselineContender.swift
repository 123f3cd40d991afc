import Feeds

/// The hand-written baseline: LMDB and a codec for these five types. It has nothing that they do
/// not need: it does not check what it reads, has no shapes, no limits and no eviction, and does
/// not compare a write with the stored records.
///
/// `index` has handles by kind and identifier, `nodes` has records by handle. A deleted node keeps
/// its handle, so that references to it find the node when it is written again.
final class BaselineContender: Contender {
    private let directory: String
    private let durability: Durability
    private var opened: BaselineEnvironment?

    init(directory: String, durability: Durability) throws {
        self.directory = directory
        self.durability = durability
    }

    func open() throws {
        opened = try BaselineEnvironment(directory: directory, durability: durability)
    }

    func close() throws { opened = nil }

    private var environment: BaselineEnvironment {
        get throws {
            guard let opened else { throw ComparisonError.missing("an open environment") }
            return opened
        }
    }

    private func reading<Result>(_ body: (inout BaselineReader) throws -> Result) throws -> Result {
        let environment = try environment
        return try environment.read { transaction in
            var reading = BaselineReader(environment, transaction)
            return try body(&reading)
        }
    }

    private func writing(_ body: (inout BaselineWriter, BaselineTransaction) throws -> Void) throws
    {
        let environment = try environment
        try environment.write { transaction in
            var writing = try BaselineWriter(environment, transaction)
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
            guard let handle = try BaselineReader(environment, transaction).handle(.person, id)
            else {
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
            let list = BaselineLists(environment, transaction, key: key)
            if replacing { try list.removeAll() }
            try list.append(handles)
        }
    }

    func collection(forKey key: String) throws -> [Person]? {
        let environment = try environment
        return try reading { reading in
            var people: [Person] = []
            var isThere = false
            let list = BaselineLists(environment, reading.transaction, key: key)
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
