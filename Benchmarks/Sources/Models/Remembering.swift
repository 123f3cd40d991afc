import ArgumentParser
import CAllocations
import Espalier
import Feeds
import Foundation

/// Reads and writes trees with the memory for decoded trees, and without it.
struct Remembering: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "memory",
        abstract: "Reads and writes a tree of 601 nodes with decoded trees in memory, and without.")

    @Option(help: "How often each way runs.")
    var rounds = 300

    @Option(help: "The only way to run, for a profiler.")
    var only: String?

    func run() throws {
        let scratch = try Scratch()
        let on = try scratch.cache("on", memory: .mebibytes(64))
        let off = try scratch.cache("off", memory: ByteCount(0))
        defer {
            on.close()
            off.close()
        }
        let timelines = (1...8).map { seed in
            var sample = Sample(seed: UInt64(seed))
            return sample.timeline(posts: 100)
        }
        for cache in [on, off] {
            for timeline in timelines { try cache.set(timeline).wait() }
        }
        print("what                                         with us   without us")
        try compare("unchanged tree read again", on, off) { cache, _ in
            try cache.expect(Timeline.self, "Timeline:\(timelines[0].id)")
        }
        let person = timelines[0].feeds[0].posts[0].author
        try compare("one node read again", on, off) { cache, _ in
            try cache.expect(Person.self, "Person:\(person.id)")
        }
        try compare("first read of a tree", on, off, before: { $0.trimMemory() }) { cache, round in
            _ = try cache.hit(Timeline.self, "Timeline:\(timelines[round % 8].id)")
        }
        try compare("first read of a node", on, off, before: { $0.trimMemory() }) { cache, _ in
            _ = try cache.hit(Person.self, "Person:\(person.id)")
        }
        try compare("one person updated", on, off) { cache, round in
            try cache.set(person.renamed(round)).wait()
        }
        try compare("one person updated, the tree read again", on, off) { cache, round in
            try cache.set(person.renamed(round + 1_000)).wait()
            _ = try cache.hit(Timeline.self, "Timeline:\(timelines[0].id)")
        }
        var number = 0
        try compare(
            "the tree read again after that", on, off,
            before: {
                number += 1
                try $0.set(person.renamed(number)).wait()
            }
        ) { cache, _ in
            let read = try cache.hit(Timeline.self, "Timeline:\(timelines[0].id)")
            guard read.feeds[0].posts[0].author.name == "Name \(number)" else {
                throw BenchmarkError.differs("the name")
            }
        }
        try rewrite(on, off, timelines[0], person)
        guard only == nil else { return }
        try threads(on, timelines)
        try heap(on, timelines)
    }

    /// Compares the estimate of the memory that trees take with the heap.
    private func heap(_ cache: NormalizedCache, _ timelines: [Timeline]) throws {
        func fill(_ what: String, _ body: () throws -> Void) throws {
            cache.trimMemory()
            let before = heap_bytes()
            try body()
            let heap = Double(heap_bytes() &- before)
            let estimate = Double(try cache.statistics().memory.bytes.bytes)
            print(
                String(
                    format: "%@: %.0f kB of heap, estimated as %.0f kB: %.2f", what, heap / 1_000,
                    estimate / 1_000, estimate / heap))
        }
        func read() throws {
            for timeline in timelines { try cache.expect(Timeline.self, "Timeline:\(timeline.id)") }
        }
        try read()
        try fill("trees", read)
        try fill("trees that have changed") {
            try read()
            for timeline in timelines {
                try cache.set(timeline.feeds[0].posts[0].author.renamed(1)).wait()
                try cache.set(timeline.feeds[0].posts[0].author.renamed(2)).wait()
            }
            try read()
        }
    }

    private func rewrite(
        _ on: NormalizedCache, _ off: NormalizedCache, _ timeline: Timeline, _ person: Person
    ) throws {
        for cache in [on, off] { try cache.set(timeline).wait() }
        for cache in [on, off] { _ = try cache.hit(Timeline.self, "Timeline:\(timeline.id)") }
        // As from a server: the texts are equal, and not the same memory.
        var sample = Sample(seed: 1)
        let copies = [timeline, sample.timeline(posts: 100)]
        try compare("the tree written again, unchanged", on, off) { cache, round in
            try cache.set(copies[round % 2]).wait()
        }
        // Each write differs from the one before by six texts, in both caches.
        var (current, number) = (timeline, -1)
        try compare(
            "the tree written again, 1 % changed", on, off,
            before: {
                number += 1
                if number % 2 == 0 { current = current.changed(number / 2) }
                _ = try $0.hit(Timeline.self, "Timeline:\(timeline.id)")
            }
        ) { cache, _ in
            try cache.set(current).wait()
        }
    }

    /// Reads trees by one thread and by four, each its own two.
    private func threads(_ cache: NormalizedCache, _ timelines: [Timeline]) throws {
        let identifiers = timelines.map { "Timeline:\($0.id)" }
        for identifier in identifiers { _ = try cache.hit(Timeline.self, identifier) }
        let count = 200_000
        func run(_ threads: Int) -> Double {
            let clock = ContinuousClock()
            let time = clock.measure {
                DispatchQueue.concurrentPerform(iterations: threads) { thread in
                    for round in 0..<count {
                        let identifier = identifiers[thread * 2 + round % 2]
                        _ = cache.read(Timeline.self, identifier, consistency: .snapshot)
                    }
                }
            }
            return Double(count * threads) / (time / .seconds(1))
        }
        var ratios: [(one: Double, four: Double)] = []
        for _ in 0..<5 { ratios.append((run(1), run(4))) }
        let median = ratios.sorted { $0.four / $0.one < $1.four / $1.one }[2]
        print(
            String(
                format: "%.0f reads a second by one thread, %.0f by four: %.2f times as many",
                median.one, median.four, median.four / median.one))
    }

    private func compare(
        _ name: String, _ on: NormalizedCache, _ off: NormalizedCache,
        before: @escaping (NormalizedCache) throws -> Void = { _ in },
        _ body: @escaping (NormalizedCache, Int) throws -> Void
    ) throws {
        guard only ?? name == name else { return }
        var times: [[Double]] = [[], []]
        let clock = ContinuousClock()
        for round in 0..<rounds + rounds / 10 {
            for (index, cache) in [on, off].enumerated() {
                try before(cache)
                let time = try clock.measure { try body(cache, round) }
                if round >= rounds / 10 { times[index].append(time / .microseconds(1)) }
            }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        let label = name.padding(toLength: 42, withPad: " ", startingAt: 0)
        print(label + String(format: "%10.2f %12.2f", medians[0], medians[1]))
    }
}

extension NormalizedCache {
    /// Reads the model, which must be there.
    fileprivate func expect<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String
    ) throws {
        guard read(type, identifier) != nil else { throw BenchmarkError.miss(identifier) }
    }
}

extension Person {
    func renamed(_ number: Int) -> Person {
        Person(
            id: id, name: "Name \(number)", handle: handle, headline: headline, avatar: avatar,
            followersCount: followersCount, followingCount: followingCount, isVerified: isVerified)
    }
}

extension Timeline {
    /// Returns the tree with the texts of six posts changed.
    fileprivate func changed(_ number: Int) -> Timeline {
        var posts = feeds[0].posts
        for index in 0..<6 {
            let place = (number * 6 + index) % posts.count
            posts[place] = posts[place].with(text: "text \(number)")
        }
        return Timeline(
            id: id, feeds: [Feed(id: feeds[0].id, title: feeds[0].title, posts: posts)])
    }
}

extension Post {
    fileprivate func with(text: String) -> Post {
        Post(
            id: id, text: text, createdAt: createdAt, likesCount: likesCount,
            repliesCount: repliesCount, isPinned: isPinned, author: author, comments: comments)
    }
}
