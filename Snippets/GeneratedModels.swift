// Models that `espalier generate` has written from the schema in the guide.

#if Macros
import Espalier
import Foundation

// snippet.types
@Normalized(.codable, policy: .merge) struct Order {
    let id: Int
    let customer: Customer
    let note: Field<String>
    @Stored("paid_at") let paidAt: Field<Date>
    let state: State
}

@Normalized(.codable) struct Customer {
    let id: Int
    let name: String
}

nonisolated enum State: RawRepresentable, Codable, Hashable, Sendable, FieldValue {
    case open
    case sent
    /// A value that this file does not know.
    case unknown(String)

    init(rawValue: String) {
        switch rawValue {
        case "open": self = .open
        case "sent": self = .sent
        default: self = .unknown(rawValue)
        }
    }

    var rawValue: String {
        switch self {
        case .open: "open"
        case .sent: "sent"
        case .unknown(let value): value
        }
    }
}
// snippet.end

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)
    // snippet.use
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    func order(_ text: String) throws -> Order {
        try decoder.decode(Order.self, from: Data(text.utf8))
    }

    let page = #"{"id": 1, "state": "open", "paid_at": null, "note": "Ring twice","#
    cache.set(try order(page + #" "customer": {"id": 7, "name": "Ada"}}"#))
    let row = #"{"id": 1, "state": "returned", "paid_at": "2024-05-01T08:00:00Z","#
    cache.set(try order(row + #" "customer": {"id": 7, "name": "Ada Lovelace"}}"#))

    let stored = await cache.read(Order.self, id: 1)
    print(stored?.state ?? .open)  // unknown("returned"): a state that the schema does not have
    print(stored?.note.wrapped ?? "none")  // Ring twice: the list did not send it
    print(await cache.read(Customer.self, id: 7)?.name ?? "a miss")  // Ada Lovelace
    // snippet.end
    cache.close()
}

let directory = NSTemporaryDirectory() + "espalier-generated-models"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
#endif
