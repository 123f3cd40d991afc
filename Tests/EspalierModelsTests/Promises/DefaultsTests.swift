import EspalierModels
import Testing

@Suite("The protocols have useful defaults")
struct DefaultsTests {
    let user = UserModel(id: 1, name: "Ann", online: true)

    @Test("An Equatable model compares by == through every protocol")
    func equatable() {
        let same = UserModel(id: 1, name: "Ann", online: true)
        let other = UserModel(id: 1, name: "Ann", online: false)
        let asModel: any Model = user
        let asSimple: any SimpleModel = user
        let asConsistent: any ConsistencyManagerModel = user
        #expect(asModel.isEqual(to: same as any Model))
        #expect(!asModel.isEqual(to: other as any Model))
        #expect(asSimple.isEqual(to: same as any SimpleModel))
        #expect(!asSimple.isEqual(to: other as any SimpleModel))
        #expect(asConsistent.isEqualToModel(same))
        #expect(!asConsistent.isEqualToModel(other))
    }

    @Test("Models of different types are never equal")
    func differentTypes() {
        let message = MessageModel(id: 1, text: "", sender: user)
        let badge = SmallestEquatableSimpleModel(number: 1)
        #expect(!(user as any ConsistencyManagerModel).isEqualToModel(message))
        #expect(!(user as any ConsistencyManagerModel).isEqualToModel(badge))
        #expect(!(badge as any ConsistencyManagerModel).isEqualToModel(user))
        #expect(!(user as any SimpleModel).isEqual(to: badge as any SimpleModel))
        #expect(!SmallestConsistencyManagerModel(number: 1, children: []).isEqualToModel(user))
        #expect(
            !(user as any ConsistencyManagerModel).isEqualToModel(
                SmallestConsistencyManagerModel(number: 1, children: [])))
    }

    @Test("A model that is not Equatable compares by its own isEqual(to:)")
    func ownEquality() {
        let simple: any ConsistencyManagerModel = SmallestSimpleModel()
        #expect(simple.isEqualToModel(SmallestSimpleModel()))
        #expect(!simple.isEqualToModel(SmallestModel()))
        let model: any ConsistencyManagerModel = SmallestSelfModel(modelIdentifier: "a")
        #expect(model.isEqualToModel(SmallestSelfModel(modelIdentifier: "a")))
        #expect(!model.isEqualToModel(SmallestSelfModel(modelIdentifier: "b")))
        #expect(
            (SmallestModel() as any SimpleModel).isEqual(to: SmallestModel() as any SimpleModel))
    }

    @Test("An Equatable simple model compares by == through ConsistencyManagerModel")
    func equatableSimple() {
        let one: any ConsistencyManagerModel = SmallestEquatableSimpleModel(number: 1)
        #expect(one.isEqualToModel(SmallestEquatableSimpleModel(number: 1)))
        #expect(!one.isEqualToModel(SmallestEquatableSimpleModel(number: 2)))
    }

    @Test("A simple model shows no children and maps to itself")
    func simpleModel() throws {
        let model: any ConsistencyManagerModel = SmallestEquatableSimpleModel(number: 7)
        model.forEach { _ in Issue.record("a simple model has no children to visit") }
        let mapped = model.map { _ in
            Issue.record("a simple model has no children to replace")
            return nil
        }
        #expect(mapped as? SmallestEquatableSimpleModel == SmallestEquatableSimpleModel(number: 7))
    }

    @Test("The projection identifier is the type's name unless the model defines another")
    func projectionIdentifier() {
        #expect(user.projectionIdentifier == "UserModel")
        #expect((user as any ConsistencyManagerModel).projectionIdentifier == "UserModel")
        #expect((user as any SimpleModel).projectionIdentifier == "UserModel")
        #expect(
            CodableTrip(id: 1, start: CodablePlace(id: 1, name: ""), stops: []).projectionIdentifier
                == "CodableTrip")
        #expect(
            (PartialPerson(city: nil) as any SimpleModel).projectionIdentifier == "PartialPerson")
        #expect(
            (PartialPerson(city: "Rome") as any SimpleModel).projectionIdentifier
                == "PartialPerson+city")
    }

    private struct PrivatePlace: SimpleModel, Equatable {
        var modelIdentifier: String? { "PrivatePlace" }
    }

    @Test("The projection identifier of a private type is its name, also in optimised builds")
    func privateProjectionIdentifier() {
        #expect(PrivatePlace().projectionIdentifier == "PrivatePlace")
    }
}
