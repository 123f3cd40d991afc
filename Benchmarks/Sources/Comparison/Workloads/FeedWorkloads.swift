import Feeds

/// Writes, reads, changes and deletes feeds, one after the other on the same contenders. After each
/// step it compares the contenders with what they should hold.
struct FeedWorkloads {
    let scale: Scale
    let durability: Durability
    let stands: [Stand]
    let announce: (String) -> Void

    private let set: FeedSet
    private let shownIn: [String: [String]]
    /// The feeds that every contender should read now, by identifier.
    private var expected: [String: Feed]
    private var random = SplitMix64(state: 42)
    private(set) var outcomes: [Outcome] = []

    init(
        scale: Scale, durability: Durability, stands: [Stand], announce: @escaping (String) -> Void
    ) {
        self.scale = scale
        self.durability = durability
        self.stands = stands
        self.announce = announce
        set = scale.feedSet
        shownIn = set.feedsByPerson()
        expected = [:]
    }

    private var reading: Turns {
        Turns(warmUp: max(1, scale.readingRounds / 10), rounds: scale.readingRounds, batch: 5)
    }
    private var writing: Turns {
        Turns(warmUp: max(1, scale.writingRounds / 10), rounds: scale.writingRounds, batch: 5)
    }

    private mutating func report(
        _ workload: String, _ title: String, _ meaning: String, _ figures: [Figure]
    ) throws {
        try check(title)
        outcomes.append(
            Outcome(
                workload: workload, title: title, meaning: meaning, durability: durability,
                figures: figures))
    }

    /// Throws unless all contenders read what they should.
    private func check(_ title: String) throws {
        let feeds = expected.values.sorted { $0.id < $1.id }
        for stand in stands {
            for feed in feeds.enumerated() where feed.offset % max(1, feeds.count / 4) == 0 {
                guard let read = try stand.contender.read(feed.element.id) else {
                    throw ComparisonError.missing(
                        "\(stand.contestant.name), \(title): feed \(feed.element.id)")
                }
                guard read.plain() == feed.element else {
                    throw ComparisonError.differs(
                        "\(stand.contestant.name), \(title)", "feed \(feed.element.id)")
                }
            }
        }
    }

    // MARK: Writing

    /// Writes every feed once: later steps need them all.
    mutating func writeNew() throws {
        announce("writing new feeds")
        // These are of other feeds, which show none of these people.
        let first = FeedSet(seed: 2, feeds: 5, people: scale.people, posts: scale.posts).feeds
        for feed in first { for stand in stands { try stand.contender.write(feed) } }
        let feeds = set.feeds
        let figures = try Turns(warmUp: 0, rounds: feeds.count, batch: 1).figures(
            stands, prepare: { $0.contender.prepare(feeds[$1]) },
            { try $0.contender.write(feeds[$1]) })
        for stand in stands { try stand.contender.settle() }
        for feed in feeds { expected[feed.id] = feed }
        try report(
            "write-new", "write a new feed",
            """
            A feed that is not there yet: 601 nodes. Other feeds may have stored its people.
            """,
            figures)
    }

    mutating func rewriteUnchanged() throws {
        announce("rewriting feeds unchanged")
        let feeds = set.feeds.map { expected[$0.id] ?? $0 }
        let figures = try writing.figures(
            stands, prepare: { $0.contender.prepare(feeds[$1 % feeds.count]) },
            { try $0.contender.write(feeds[$1 % feeds.count]) })
        try report(
            "rewrite-same", "rewrite unchanged", "A feed that is there already, just as it is.",
            figures)
    }

    mutating func rewriteEdited() throws {
        announce("rewriting feeds with 1 % changed")
        let turns = writing
        var states: [Feed] = []
        for number in 0..<turns.operations {
            let feed = set.feeds[number % set.feeds.count]
            let edited = (expected[feed.id] ?? feed).edited(number + 1)
            expected[feed.id] = edited
            states.append(edited)
        }
        let figures = try turns.figures(
            stands, prepare: { $0.contender.prepare(states[$1]) },
            { try $0.contender.write(states[$1]) })
        try report(
            "rewrite-edited", "rewrite with 1 % changed",
            "A feed of which six nodes of 601 have another number of likes.", figures)
    }

    /// Returns people who are shown somewhere, more often those who are shown more often.
    private mutating func drawPeople(_ count: Int) -> [Person] {
        (0..<count).map { _ in
            let feed = set.feeds[Int(random.next() % UInt64(set.feeds.count))]
            let post = feed.posts[Int(random.next() % UInt64(feed.posts.count))]
            return post.author
        }
    }

    mutating func updatePerson() throws {
        announce("updating people")
        let turns = Turns(warmUp: 1, rounds: max(1, scale.writingRounds / 2), batch: 2)
        let changed = drawPeople(turns.operations).enumerated().map { $1.edited($0) }
        let shownIn = shownIn
        let figures = try turns.figures(stands) { stand, number in
            let person = changed[number]
            let feeds = shownIn[person.id] ?? []
            try stand.contender.update(person, shownIn: feeds)
            guard try stand.contender.read(feeds[number % feeds.count]) != nil else {
                throw ComparisonError.missing("\(stand.contestant.name): a feed after an update")
            }
        }
        for person in changed {
            for feed in shownIn[person.id] ?? [] {
                expected[feed] = expected[feed]?.showing(person)
            }
        }
        try report(
            "update-person", "update a person, re-read a feed",
            """
            Another headline of a person, drawn as often as shown, and then a feed that shows it. \
            A contender that keeps feeds whole is told which ones show the person, and rewrites \
            all of them.
            """, figures)
    }

    mutating func append() throws {
        announce("appending to a collection of \(scale.collection)")
        var sample = Sample(seed: 3)
        let turns = Turns(warmUp: 1, rounds: scale.writingRounds, batch: 1)
        let people = (0..<scale.collection).map { _ in sample.person() }
        let pages = (0..<turns.operations).map { _ in (0..<scale.page).map { _ in sample.person() }
        }
        for stand in stands { try stand.contender.setCollection(people, forKey: "followers") }
        var lists = [people]
        for page in pages { lists.append(lists[lists.count - 1] + page) }
        let figures = try turns.figures(stands) { stand, number in
            try stand.contender.append(pages[number], to: lists[number], forKey: "followers")
        }
        for stand in stands {
            guard try stand.contender.collection(forKey: "followers") == lists.last else {
                throw ComparisonError.differs(stand.contestant.name, "the collection")
            }
        }
        try report(
            "append", "append a page to a collection of \(scale.collection)",
            """
            \(scale.page) people after \(scale.collection) others. The app has the list in memory.
            """,
            figures)
    }

    /// Deletes data that the other workloads need, and so comes last.
    mutating func delete() throws {
        announce("deleting people")
        let turns = Turns(warmUp: 1, rounds: max(1, scale.writingRounds / 2), batch: 1)
        var deleted: [String] = []
        for person in drawPeople(turns.operations * 20) where !deleted.contains(person.id) {
            if deleted.count < turns.operations { deleted.append(person.id) }
        }
        let shownIn = shownIn
        let figures = try Turns(warmUp: 1, rounds: deleted.count - 1, batch: 1).figures(stands) {
            stand, number in
            try stand.contender.delete(
                person: deleted[number], shownIn: shownIn[deleted[number]] ?? [])
        }
        for id in deleted {
            for feed in shownIn[id] ?? [] { expected[feed] = expected[feed]?.without(person: id) }
        }
        try report(
            "delete", "delete with cascade",
            "A person with its posts and comments: they are gone from every feed.",
            figures)
    }

    // MARK: Reading

    mutating func readWarm() throws {
        announce("reading feeds")
        let turns = reading
        let table = ZipfTable(count: set.feeds.count)
        let drawn = (0..<turns.operations).map { _ in set.feeds[table.draw(&random)].id }
        let figures = try turns.figures(stands) { stand, number in
            guard try stand.contender.read(drawn[number]) != nil else {
                throw ComparisonError.missing("\(stand.contestant.name): feed \(drawn[number])")
            }
        }
        try report(
            "read-warm", "read a feed, warm",
            "A feed of 601 nodes made into models, drawn by Zipf, with its file in the page cache.",
            figures)
    }

    mutating func readNode() throws {
        announce("reading single nodes")
        let turns = reading
        let people = drawPeople(turns.operations)
        let shownIn = shownIn
        let figures = try turns.figures(stands) { stand, number in
            let person = people[number]
            guard
                try stand.contender.person(person.id, shownIn: shownIn[person.id]?.first ?? "")
                    != nil
            else {
                throw ComparisonError.missing("\(stand.contestant.name): person \(person.id)")
            }
        }
        try report(
            "read-node", "read one node",
            "One person. Who keeps feeds whole reads a feed that shows it.", figures)
    }

    /// Reads with nothing of the file in memory, neither the contender's nor the system's.
    mutating func readCold() throws {
        announce("reading feeds, cold")
        let table = ZipfTable(count: set.feeds.count)
        var times = stands.map { _ in [Double]() }
        var refused = 0
        let clock = ContinuousClock()
        for _ in 0..<scale.coldRounds {
            let id = set.feeds[table.draw(&random)].id
            for (index, stand) in stands.enumerated() where stand.contestant.role != .ceiling {
                try stand.contender.close()
                guard try PageCache.forget(stand.directory) else {
                    refused += 1
                    try stand.contender.open()
                    continue
                }
                let time = try clock.measure {
                    try stand.contender.open()
                    guard try stand.contender.read(id) != nil else {
                        throw ComparisonError.missing("\(stand.contestant.name): feed \(id)")
                    }
                }
                times[index].append(time.microseconds)
            }
        }
        let figures = zip(stands, times).filter { !$1.isEmpty }.map {
            Figure($0.contestant, unit: .microseconds, values: $1)
        }
        try report(
            "read-cold", "open and read a feed, cold",
            """
            Opening and the first read, after the system was made to drop the files from memory \
            (posix_fadvise, checked with mincore; it refused \(refused) times, which do not \
            count). The disk itself or the host may still remember them.
            """, figures)
    }

    mutating func size() throws {
        let figures = try stands.filter { $0.contestant.role != .ceiling }.map { stand in
            // Opens twice, because a contender moves the rest of its log into tables when it opens.
            for _ in 0..<2 {
                try stand.contender.close()
                try stand.contender.open()
            }
            try stand.contender.close()
            let bytes = try stand.bytesOnDisk()
            try stand.contender.open()
            return Figure(stand.contestant, unit: .bytes, values: [Double(bytes)])
        }
        try report(
            "size", "bytes on disk",
            "The directory after \(scale.feeds + 5) feeds were written, closed.", figures)
    }
}

extension Contest {
    /// Runs the workloads over feeds. Those that only read run only if nothing waits for the disk.
    func feeds(_ durability: Durability) throws -> [Outcome] {
        let scratch = try Scratch(in: directory)
        let contestants =
            durability == .process ? contestants : contestants.filter { $0.role != .ceiling }
        let stands = try contestants.map { try Stand($0, in: scratch.path, durability: durability) }
        var feeds = FeedWorkloads(scale: scale, durability: durability, stands: stands) { what in
            announce(durability == .process ? what : what + ", waiting for the disk")
        }
        try feeds.writeNew()
        if durability == .process {
            try feeds.size()
            try feeds.readWarm()
            try feeds.readNode()
            try feeds.readCold()
        }
        try feeds.rewriteUnchanged()
        try feeds.rewriteEdited()
        try feeds.append()
        // Contenders that keep feeds whole would rewrite dozens of them and wait for each: that
        // takes minutes and shows no more than the main table.
        if durability == .process {
            try feeds.updatePerson()
            try feeds.delete()
        }
        for stand in stands { try stand.contender.close() }
        return feeds.outcomes
    }
}
