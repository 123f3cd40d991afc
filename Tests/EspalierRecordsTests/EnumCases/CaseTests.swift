import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Enums with payloads are stored as Codable synthesises them")
struct CaseTests {
    static let parcels: [Parcel] = [
        .none, .person(Ada()), .pair(first: Ada(1), second: Ada(2)),
        .pair(first: Ada(1), second: nil),
        .list([Ada(1), Ada(2)], 7), .list([], 0), .boxed(.boxed(.person(Ada(3)))), .boxed(.none),
    ]

    static func delivery(_ parcel: Parcel) -> Delivery<Parcel> {
        Delivery(single: parcel, optional: parcel, list: [parcel, .none, parcel])
    }

    static func synthesised(_ parcel: Parcel) -> Delivery<SynthesisedParcel> {
        let parcel = parcel.synthesised
        return Delivery(single: parcel, optional: parcel, list: [parcel, .none, parcel])
    }

    /// A map of fields, whose values are maps of fields.
    struct Map: FieldValue, Sendable {
        let entries: [(String, [(String, Int)])]
        init(_ entries: [(String, [(String, Int)])]) { self.entries = entries }

        func encodeValue(into encoder: ValueEncoder) throws {
            try encoder.encodeMap(count: entries.count) {
                for (name, fields) in entries {
                    encoder.encode(name)
                    try encoder.encodeMap(count: fields.count) {
                        for (name, value) in fields {
                            encoder.encode(name)
                            encoder.encode(Int64(value))
                        }
                    }
                }
            }
        }

        static func decodeValue(from decoder: inout ValueDecoder) throws -> Map {
            throw MissReason.notFound
        }
    }

    struct Forged: NormalizedModel {
        let single: any FieldValue & Sendable
        var modelIdentifier: String? { "Delivery" }
        init(_ single: any FieldValue & Sendable) { self.single = single }
        init(from decoder: inout RecordDecoder) throws { throw MissReason.notFound }

        func encode(to encoder: inout RecordEncoder) throws {
            try encode(single, to: &encoder)
            try encoder.encode([Ada](), forKey: "list")
            try encoder.encode("after", forKey: "after")
        }

        private func encode(_ value: some FieldValue, to encoder: inout RecordEncoder) throws {
            try encoder.encode(value, forKey: "single")
        }
    }

    @Test("An enum written by hand and one by Codable make the same bytes", arguments: parcels)
    func sameBytes(_ parcel: Parcel) throws {
        let (byHand, byCodable) = (BridgeStore(), BridgeStore())
        try byHand.write(Self.delivery(parcel))
        try byCodable.write(Self.synthesised(parcel))
        let bytes = try #require(byHand.bytes(of: "Delivery"))
        #expect(bytes == byCodable.bytes(of: "Delivery"))
    }

    @Test("An enum written by hand or by Codable is read by either", arguments: parcels)
    func bothWays(_ parcel: Parcel) throws {
        let store = BridgeStore()
        try store.write(Self.delivery(parcel))
        #expect(store.read(Delivery<Parcel>.self, "Delivery") == .success(Self.delivery(parcel)))
        #expect(
            store.read(Delivery<SynthesisedParcel>.self, "Delivery")
                == .success(Self.synthesised(parcel)))
        try store.write(Self.synthesised(parcel))
        #expect(store.read(Delivery<Parcel>.self, "Delivery") == .success(Self.delivery(parcel)))
    }

    @Test("A deleted payload deletes the value, up to the nearest place that may be empty")
    func deleted() throws {
        let store = BridgeStore()
        var delivery = Self.delivery(.boxed(.person(Ada())))
        delivery.single = .pair(first: Ada(2), second: Ada())
        try store.write(delivery)
        store.delete("Ada:1")
        let left = Delivery<Parcel>(
            single: .pair(first: Ada(2), second: nil), optional: nil, list: [.none])
        #expect(store.read(Delivery<Parcel>.self, "Delivery") == .success(left))
        store.delete("Ada:2")
        #expect(store.read(Delivery<Parcel>.self, "Delivery") == .failure(.deleted))
    }

    @Test("An unknown case is a miss that names the case and its place")
    func unknown() throws {
        let store = BridgeStore()
        try store.write(Forged(Map([("sticker", [("_0", 1)])])))
        let miss = MissReason.undecodable(
            path: "Delivery.single", detail: "Parcel has no case named sticker")
        #expect(store.read(Delivery<Parcel>.self, "Delivery") == .failure(miss))
    }

    @Test("A map of no field or of several is a mismatch for an enum, as through Codable")
    func count() throws {
        for entries in [[], [("none", []), ("person", [])], [("none", []), ("none", [])]]
            as [[(String, [(String, Int)])]]
        {
            let store = BridgeStore()
            try store.write(Forged(Map(entries)))
            let byHand = store.read(Delivery<Parcel>.self, "Delivery")
            let detail = "expected the one field of an enum's case, found \(entries.count)"
            #expect(byHand == .failure(.undecodable(path: "Delivery.single", detail: detail)))
        }
        let store = BridgeStore()
        try store.write(Forged(Map([("none", []), ("person", [])])))
        guard
            case .failure(.undecodable("Delivery.single", _)) = store.read(
                Delivery<SynthesisedParcel>.self, "Delivery")
        else {
            Issue.record("Codable reads it")
            return
        }
    }

    @Test("A mismatch in a payload has the same path as through Codable")
    func mismatch() throws {
        let store = BridgeStore()
        try store.write(Forged(Map([("person", [("_0", 1)])])))
        for result in [
            store.read(Delivery<Parcel>.self, "Delivery").map { _ in },
            store.read(Delivery<SynthesisedParcel>.self, "Delivery").map { _ in },
        ] {
            guard case .failure(.undecodable(let path, _)) = result else {
                Issue.record("no mismatch")
                continue
            }
            #expect(path == "Delivery.single.person._0")
        }
        try store.write(Forged(Map([("list", [("_0", 1)])])))
        #expect(
            store.read(Delivery<Parcel>.self, "Delivery")
                == .failure(
                    .undecodable(
                        path: "Delivery.single.list._1",
                        detail: "the record lacks this required field")))
    }

    @Test("A value that is no map is a mismatch for an enum")
    func noMap() throws {
        for value in [1, "none", [1], Ada()] as [any FieldValue & Sendable] {
            let store = BridgeStore()
            try store.write(Forged(value))
            guard case .failure(.undecodable) = store.read(Delivery<Parcel>.self, "Delivery") else {
                Issue.record("\(value) was read")
                continue
            }
        }
    }

    @Test("An enum with an identifier is a record to which another type may add fields")
    func node() throws {
        struct Note: NormalizedModel, Codable {
            var note = "n", modelIdentifier: String? = "Ticket"
        }
        let source = DictionaryRecordSource()
        for ticket in [Ticket.open(3), .closed, .open(4)] {
            try source.store(ticket)
            #expect(source.read("Ticket", as: Ticket.self) == .success(ticket))
        }
        try source.store(Note())
        #expect(source.read("Ticket", as: Ticket.self) == .success(.open(4)))
    }
}
