import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation

/// A feed as applications have them: new posts, written by people of whom some are everywhere.
struct WorkloadFeed: NormalizedModel, Equatable {
    let id: Int
    let posts: [WorkloadPost]

    static func identifier(_ id: Int) -> String { "Feed:\(id)" }

    var modelIdentifier: String? { Self.identifier(id) }

    init(_ id: Int, posts count: Int, person: () -> Person) {
        self.id = id
        posts = (0..<count).map { WorkloadPost(id * count + $0, author: person(), fan: person()) }
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        posts = try decoder.decode(forKey: "posts")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(posts, forKey: "posts")
    }
}

struct WorkloadPost: NormalizedModel, Equatable {
    let id: Int
    let text: String
    let author: Person
    let comment: Message

    var modelIdentifier: String? { "Post:\(id)" }

    init(_ id: Int, author: Person, fan: Person) {
        self.id = id
        text = "post \(id) " + String(repeating: "says as much as posts do ", count: 36)
        self.author = author
        comment = Message("Comment:\(id)", from: fan)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        author = try decoder.decode(forKey: "author")
        comment = try decoder.decode(forKey: "comment")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(author, forKey: "author")
        try encoder.encode(comment, forKey: "comment")
    }
}

/// Draws ranks by Zipf's law: rank k with a probability proportional to 1 / k^0.99, from 0, which
/// is the likeliest.
struct Zipf {
    private let sums: [Double]

    init(count: Int) {
        var sum = 0.0
        sums = (1...count).map { rank in
            sum += 1 / pow(Double(rank), 0.99)
            return sum
        }
    }

    func draw(_ random: inout SeededGenerator) -> Int {
        let target = Double.random(in: 0..<(sums.last ?? 1), using: &random)
        return sums.firstIndex { target < $0 } ?? 0
    }
}
