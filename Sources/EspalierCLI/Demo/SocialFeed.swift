/// A made-up feed: the same for the same seed and number of messages.
///
/// The first messages are those the demo tells about; the rest is drawn, with some people much more
/// active than others.
struct SocialFeed: Sendable, Equatable {
    let seed: UInt64
    let messages: [Message]

    /// The smallest feed in which everybody the demo tells about has something to do.
    static let leastMessages = 100

    static let hero = Person(id: "1", name: "Ada Byron")
    static let guest = Person(id: "2", name: "王小明")
    static let heroRenamed = Person(id: "1", name: "Ada Lovelace")

    private static let cast = [
        hero, guest, Person(id: "3", name: "ليلى حداد"), Person(id: "4", name: "Max 🚀"),
    ]

    init(seed: UInt64, messages count: Int) {
        self.seed = seed
        var draw = Draw(seed: seed)
        let people = Self.people(max(20, count / 20), &draw)
        let attachments = (1...max(10, count / 8)).map {
            Attachment(id: "\($0)", title: draw.title())
        }
        let opening = [
            Message(
                id: "1", text: "Morning ☕ 早上好", sender: people[0], attachment: attachments[0],
                likes: [people[1], people[2]]),
            Message(
                id: "2", text: "A tree against a wall 🌳", sender: people[1], attachment: nil,
                likes: [people[0], people[3]]
            ),
            Message(
                id: "3", text: "مساء الخير 🌙", sender: people[2], attachment: attachments[0],
                likes: [people[1]]),
        ]
        messages =
            opening
            + (opening.count..<max(count, opening.count)).map { number in
                Message(
                    id: "\(number + 1)", text: draw.text(), sender: draw.popular(people),
                    attachment: draw.oneIn(4) ? draw.any(attachments) : nil,
                    likes: draw.likes(people))
            }
    }

    private static func people(_ count: Int, _ draw: inout Draw) -> [Person] {
        cast
            + (cast.count + 1...max(count, cast.count + 1)).map {
                Person(id: "\($0)", name: draw.name())
            }
    }

    /// Models in all trees, shared ones as often as they stand there.
    var modelCount: Int { messages.reduce(0) { $0 + $1.modelCount } }

    /// Models with different identifiers.
    var nodeCount: Int {
        let people = Set(messages.flatMap { [$0.sender.id] + $0.likes.map(\.id) })
        return messages.count + people.count + Set(messages.compactMap { $0.attachment?.id }).count
    }

    /// The messages in runs of at most `size`, as a server would send them.
    func pages(of size: Int) -> [[Message]] {
        stride(from: 0, to: messages.count, by: size).map {
            Array(messages[$0..<min($0 + size, messages.count)])
        }
    }
}
