#if CommandLine
import EspalierFixtures
import EspalierModels
import EspalierRecords

/// A made-up feed: the same for the same seed and number of messages.
///
/// The demo is about the first messages. The rest is drawn by the seed, with some people much more
/// active than others.
struct SocialFeed: Sendable, Equatable {
    let seed: UInt64
    let messages: [Message]

    /// The smallest feed in which every person of the demo writes and likes something.
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

    /// The number of models in all trees. A shared model counts each time it is shown.
    var modelCount: Int { messages.reduce(0) { $0 + $1.modelCount } }

    /// The number of models with different identifiers.
    var nodeCount: Int {
        let people = Set(messages.flatMap { [$0.sender.id] + $0.likes.map(\.id) })
        return messages.count + people.count + Set(messages.compactMap { $0.attachment?.id }).count
    }

    /// Returns the messages in pages of at most `size`, as a server would send them.
    func pages(of size: Int) -> [[Message]] {
        stride(from: 0, to: messages.count, by: size).map {
            Array(messages[$0..<min($0 + size, messages.count)])
        }
    }
}

/// A message of the demo's feed. It cannot be read without its sender, but without its attachment
/// and its likes.
struct Message: Codable, NormalizedModel, Equatable {
    let id, text: String
    let sender: Person
    let attachment: Attachment?
    let likes: [Person]
    var modelIdentifier: String? { "Message:\(id)" }
}

/// A person who writes messages and likes those of others.
struct Person: Codable, NormalizedModel, Equatable {
    let id, name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

/// A file that messages show; several may show the same.
struct Attachment: Codable, NormalizedModel, Equatable {
    let id, title: String
    var modelIdentifier: String? { "Attachment:\(id)" }
}

/// A screenful of messages, as one tree.
struct Feed: Codable, NormalizedModel, Equatable {
    let id: String
    let messages: [Message]
    var modelIdentifier: String? { "Feed:\(id)" }
}

extension Message {
    /// The declaration above, for readers of the demo. A test compares the two.
    static let declaration = """
        struct Message: Codable, NormalizedModel {
            let id, text: String
            let sender: Person
            let attachment: Attachment?
            let likes: [Person]
            var modelIdentifier: String? { "Message:\\(id)" }
        }
        """

    /// The number of models in this tree. A shared model counts each time it is shown.
    var modelCount: Int { 2 + (attachment == nil ? 0 : 1) + likes.count }

    /// The number of different models in this tree.
    var nodeCount: Int {
        1 + (attachment == nil ? 0 : 1) + Set([sender.id] + likes.map(\.id)).count
    }

    func shows(_ person: String) -> Bool { sender.id == person || isLiked(by: person) }

    func isLiked(by person: String) -> Bool { likes.contains { $0.id == person } }
}

// The same changes in plain Swift, with which the demo compares what the cache returns.
extension Message {
    func updating(_ person: Person) -> Message {
        Message(
            id: id, text: text, sender: sender.id == person.id ? person : sender,
            attachment: attachment,
            likes: likes.map { $0.id == person.id ? person : $0 })
    }

    func removing(attachment removed: String) -> Message {
        Message(
            id: id, text: text, sender: sender,
            attachment: attachment?.id == removed ? nil : attachment, likes: likes)
    }

    /// Returns the message without a person's like, or nil if the person is the sender.
    func removing(person removed: String) -> Message? {
        guard sender.id != removed else { return nil }
        return Message(
            id: id, text: text, sender: sender, attachment: attachment,
            likes: likes.filter { $0.id != removed })
    }
}

/// Draws names, texts and people by a seed.
struct Draw {
    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(state: seed) }

    mutating func number(below limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

    mutating func oneIn(_ count: Int) -> Bool { number(below: count) == 0 }

    mutating func any<Element>(_ elements: [Element]) -> Element {
        elements[number(below: elements.count)]
    }

    /// Returns an element, one of the first more often than one of the last.
    mutating func popular<Element>(_ elements: [Element]) -> Element {
        elements[min(number(below: elements.count), number(below: elements.count))]
    }

    mutating func likes(_ people: [Person]) -> [Person] {
        var likes: [Person] = []
        for _ in 0..<number(below: 6) {
            let person = popular(people)
            if !likes.contains(person) { likes.append(person) }
        }
        return likes
    }

    mutating func name() -> String {
        switch number(below: 8) {
        case 0: any(Self.chineseFamilies) + any(Self.chineseGiven)
        case 1: "\(any(Self.arabicGiven)) \(any(Self.arabicFamilies))"
        case 2: "\(any(Self.latinGiven)) \(any(Self.emoji))"
        default: "\(any(Self.latinGiven)) \(any(Self.latinFamilies))"
        }
    }

    mutating func text() -> String {
        let text = "\(any(Self.phrases)) \(any(Self.phrases))"
        return oneIn(3) ? "\(text) \(any(Self.emoji))" : text
    }

    mutating func title() -> String { "\(any(Self.things)) \(any(Self.emoji)).jpg" }

    private static let latinGiven = [
        "Ada", "Björn", "Chloé", "Dmitri", "Elif", "Fatou", "Grace", "Hana", "Ivo", "José", "Kenji",
        "Lucía", "Zoë",
    ]
    private static let latinFamilies = [
        "Adeyemi", "Berg", "Costa", "Dvořák", "Eriksen", "Fischer", "García", "Hughes", "Ionescu",
        "Jansen", "Kaya",
    ]
    private static let chineseFamilies = ["王", "李", "张", "陈", "刘", "赵", "周"]
    private static let chineseGiven = ["伟", "芳", "娜", "静", "磊", "雪梅", "建国"]
    private static let arabicGiven = ["عمر", "سارة", "مريم", "يوسف", "نور"]
    private static let arabicFamilies = ["خليل", "نصر", "حداد", "منصور"]
    private static let emoji = ["🌻", "🚀", "🦊", "🎧", "🍀", "🐙", "🌅", "🎲"]
    private static let phrases = [
        "Who is in town?", "Look at this.", "Ça marche !", "今天天气很好。", "صباح الخير", "Ship it!",
        "See you at nine.",
        "Später mehr.", "また明日。", "Nothing to add.", "¡Qué bien!", "The branches grow flat.",
        "Спасибо!",
    ]
    private static let things = [
        "sunrise", "garden", "whiteboard", "cat", "train", "lunch", "wall", "日出", "pear tree",
    ]
}
#endif
