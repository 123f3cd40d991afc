import Feeds

/// Measures operations while caches grow from a thousand records to a million, and some of them
/// beyond if the user asks for it.
///
/// All records are different: no feed shows a person of another.
struct Growth {
    let contest: Contest

    /// The times of one contender at one size, in microseconds.
    struct Point: Codable, Sendable {
        let contender: ContenderID
        let records: Int
        let open, read, node, write, rewrite: Figure
        let bytes: Int
    }

    /// A contender and the identifiers of what it holds.
    fileprivate final class Grown {
        let stand: Stand
        var feeds: [String] = []
        var people: [(id: String, feed: String)] = []

        init(_ stand: Stand) { self.stand = stand }
    }

    func run() throws -> [Point] {
        let near = contest.contestants.filter(\.isMeasuredGrowing)
        let far = near.filter { $0.role != .peer }
        return try run(near, contest.scale.growth) + run(far, contest.scale.farGrowth)
    }

    private func run(_ contestants: [Contestant], _ sizes: [Int]) throws -> [Point] {
        guard !sizes.isEmpty else { return [] }
        let scratch = try Scratch(in: contest.directory)
        let grown = try contestants.map {
            Grown(try Stand($0, in: scratch.path, durability: .process))
        }
        var sample = Sample(seed: 9)
        var number = 0
        var records = 0
        let perFeed = Feed.nodeCount(posts: contest.scale.posts)
        func next() -> Feed {
            defer { number += 1 }
            return sample.feed(number: number, posts: contest.scale.posts)
        }
        var points: [Point] = []
        for size in sizes {
            contest.announce("growing to \(size) records")
            while records + perFeed <= size || records == 0 {
                let feed = next()
                for contender in grown { try contender.add(feed) }
                records += perFeed
            }
            contest.announce("measuring at \(records) records")
            let fresh = (0..<turns.operations).map { _ in next() }
            points += try measure(grown, records, fresh)
            records += fresh.count * perFeed
        }
        for contender in grown { try contender.stand.contender.close() }
        return points
    }

    private var turns: Turns {
        Turns(warmUp: 1, rounds: max(2, contest.scale.writingRounds / 2), batch: 2)
    }

    private func measure(_ grown: [Grown], _ records: Int, _ fresh: [Feed]) throws -> [Point] {
        let stands = grown.map(\.stand)
        // In a small cache, many records are older than the first dictionaries; in a large one
        // hardly any are.
        if records <= 1_000_000 { for stand in stands { try stand.contender.settle() } }
        var random = SplitMix64(state: UInt64(records))
        let drawn = (0..<turns.operations * 5).map { _ in Int(random.next() >> 1) }
        let opening = try Turns(warmUp: 1, rounds: 5, batch: 1).measure(
            stands, prepare: { stand, _ in try stand.contender.close() },
            { stand, _ in try stand.contender.open() })
        let held = grown[0]
        let many = Turns(warmUp: 1, rounds: turns.rounds, batch: 10)
        let reading = try many.measure(stands) { stand, number in
            let feed = held.feeds[drawn[number % drawn.count] % held.feeds.count]
            guard try stand.contender.read(feed) != nil else {
                throw ComparisonError.missing("\(stand.contestant.name): \(feed)")
            }
        }
        let nodes = try many.measure(stands) { stand, number in
            let person = held.people[drawn[number % drawn.count] % held.people.count]
            guard try stand.contender.person(person.id, shownIn: person.feed) != nil else {
                throw ComparisonError.missing("\(stand.contestant.name): person \(person.id)")
            }
        }
        let writing = try turns.measure(
            stands, prepare: { $0.contender.prepare(fresh[$1]) },
            { try $0.contender.write(fresh[$1]) })
        let edited = fresh.map { $0.edited(1) }
        let rewriting = try turns.measure(
            stands, prepare: { $0.contender.prepare(edited[$1]) },
            { try $0.contender.write(edited[$1]) })
        for contender in grown { for feed in fresh { contender.note(feed) } }
        return try stands.indices.map { index in
            let contestant = stands[index].contestant
            func figure(_ times: [[Double]]) -> Figure {
                Figure(contestant, unit: .microseconds, values: times[index])
            }
            return Point(
                contender: contestant.id, records: records, open: figure(opening),
                read: figure(reading),
                node: figure(nodes), write: figure(writing), rewrite: figure(rewriting),
                bytes: try stands[index].bytesOnDisk())
        }
    }
}

extension Growth.Grown {
    fileprivate func add(_ feed: Feed) throws {
        stand.contender.prepare(feed)
        try stand.contender.write(feed)
        note(feed)
    }

    fileprivate func note(_ feed: Feed) {
        feeds.append(feed.id)
        people.append((feed.posts[feed.posts.count / 2].author.id, feed.id))
    }
}

extension Contestant {
    /// The others grow as those of their kind do, and take minutes.
    fileprivate var isMeasuredGrowing: Bool {
        switch role {
        case .engine: id == .engine || id == .engineCompressed
        case .baseline, .peer: true
        case .ceiling: false
        }
    }
}
