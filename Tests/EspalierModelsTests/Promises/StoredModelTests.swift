import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("One type may be kept consistent and be stored")
struct StoredModelTests {
    let start = CodablePlace(id: 1, name: "Rome")
    let end = CodablePlace(id: 2, name: "Oslo")

    @Test("A Codable Model is stored as records, and each child is read from its own")
    func codable() throws {
        let source = DictionaryRecordSource()
        let trip = CodableTrip(id: 1, start: start, stops: [end, start, end])
        try source.store(trip)
        #expect(source.records.count == 3)
        #expect(try source.read("Trip:1", as: CodableTrip.self).get() == trip)
        try source.store(CodablePlace(id: 1, name: "Roma"))
        let renamed = CodablePlace(id: 1, name: "Roma")
        #expect(
            try source.read("Trip:1", as: CodableTrip.self).get()
                == CodableTrip(id: 1, start: renamed, stops: [end, renamed, end]))
    }

    @Test("A Codable class, a simple model and an inline model can be stored")
    func otherCodables() throws {
        let source = DictionaryRecordSource()
        try source.store(CodableClass(id: 5))
        try source.store(CodableBadge(count: 3))
        #expect(
            try source.read("CodableClass:5", as: CodableClass.self).get() == CodableClass(id: 5))
        #expect(try source.read("Badge", as: CodableBadge.self).get() == CodableBadge(count: 3))
        #expect(CodableInline(text: "a").modelIdentifier == nil)
    }

    @Test("A model that is not Codable is stored by its own functions")
    func byHand() throws {
        let source = DictionaryRecordSource()
        let model = WrittenByHand(id: 1, place: WrittenByHandPlace(name: "Rome"))
        try source.store(model)
        #expect(source.records.count == 2)
        #expect(
            try source.read("WrittenByHand:1", as: WrittenByHand.self).get().isEqual(
                to: model as any Model))
        source.delete("WrittenByHandPlace:Rome")
        #expect(try source.read("WrittenByHand:1", as: WrittenByHand.self).get().place == nil)
    }

    @Test("Storing and consistency agree on the projection and on the identifier")
    func agreement() {
        let trip = CodableTrip(id: 1, start: start, stops: [])
        #expect(
            (trip as any NormalizedModel).projectionIdentifier
                == (trip as any Model).projectionIdentifier)
        #expect(
            (trip as any NormalizedModel).modelIdentifier == (trip as any Model).modelIdentifier)
        #expect((trip as any IdentifiedModel).modelIdentifier == "Trip:1")
    }

    @Test("The children of a stored model can be replaced")
    func children() throws {
        let trip: any ConsistencyManagerModel = CodableTrip(id: 1, start: start, stops: [end])
        let mapped = trip.map { $0.modelIdentifier == "Place:2" ? nil : $0 }
        #expect(mapped as? CodableTrip == CodableTrip(id: 1, start: start, stops: []))
    }
}
