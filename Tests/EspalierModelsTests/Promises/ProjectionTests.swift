import EspalierModels
import Testing

@Suite("Projections are merged, other models are replaced")
struct ProjectionTests {
    let full = FullPerson(id: 1, name: "Ann", city: "Rome")
    let short = ShortPerson(id: 1, name: "Anna")

    @Test("each projection takes what the other says and stays of its own type")
    func merging() {
        let merged = (full as any ConsistencyManagerModel).mergeModel(short)
        #expect(merged as? FullPerson == FullPerson(id: 1, name: "Anna", city: "Rome"))
        let other = (short as any ConsistencyManagerModel).mergeModel(full)
        #expect(other as? ShortPerson == ShortPerson(id: 1, name: "Ann"))
    }

    @Test("a model of the same type replaces the old one")
    func sameType() {
        let user = UserModel(id: 1, name: "Ann", online: true)
        let newer = UserModel(id: 1, name: "Ann", online: false)
        #expect((user as any ConsistencyManagerModel).mergeModel(newer) as? UserModel === newer)
        #expect(user.merge(newer) as? UserModel === newer)
    }

    @Test("mergeModel of a model that is not a Model gives the other one")
    func consistencyManagerModel() {
        let old = SmallestConsistencyManagerModel(number: 1, children: [])
        let new = SmallestConsistencyManagerModel(number: 1, children: [old])
        #expect(old.mergeModel(new) as? SmallestConsistencyManagerModel == new)
        let badge = SmallestEquatableSimpleModel(number: 2)
        #expect(
            SmallestEquatableSimpleModel(number: 1).mergeModel(badge)
                as? SmallestEquatableSimpleModel == badge)
    }

    @Test("a model of another type that nothing is said about leaves the model as it is")
    func unrelated() {
        let user = UserModel(id: 1, name: "Ann", online: true)
        #expect(user.merge(full) as? UserModel === user)
        #expect(
            (user as any ConsistencyManagerModel).mergeModel(SmallestSimpleModel()) as? UserModel
                === user)
    }
}
