import EspalierModels
import Testing

@Suite("Projections are merged, and other models are replaced")
struct ProjectionTests {
    let full = FullPerson(id: 1, name: "Ann", city: "Rome")
    let short = ShortPerson(id: 1, name: "Anna")

    @Test("Each projection takes the other's fields and keeps its own type")
    func merging() {
        let merged = (full as any ConsistencyManagerModel).mergeModel(short)
        #expect(merged as? FullPerson == FullPerson(id: 1, name: "Anna", city: "Rome"))
        let other = (short as any ConsistencyManagerModel).mergeModel(full)
        #expect(other as? ShortPerson == ShortPerson(id: 1, name: "Ann"))
    }

    @Test("A model of the same type replaces the old one")
    func sameType() {
        let user = UserModel(id: 1, name: "Ann", online: true)
        let newer = UserModel(id: 1, name: "Ann", online: false)
        #expect((user as any ConsistencyManagerModel).mergeModel(newer) as? UserModel === newer)
        #expect(user.merge(newer) as? UserModel === newer)
    }

    @Test("`mergeModel` of a model that is not a Model returns the other one")
    func consistencyManagerModel() {
        let old = SmallestConsistencyManagerModel(number: 1, children: [])
        let new = SmallestConsistencyManagerModel(number: 1, children: [old])
        #expect(old.mergeModel(new) as? SmallestConsistencyManagerModel == new)
        let badge = SmallestEquatableSimpleModel(number: 2)
        #expect(
            SmallestEquatableSimpleModel(number: 1).mergeModel(badge)
                as? SmallestEquatableSimpleModel == badge)
    }

    @Test("A model of an unrelated type leaves the model unchanged")
    func unrelated() {
        let user = UserModel(id: 1, name: "Ann", online: true)
        #expect(user.merge(full) as? UserModel === user)
        #expect(
            (user as any ConsistencyManagerModel).mergeModel(SmallestSimpleModel()) as? UserModel
                === user)
    }
}
