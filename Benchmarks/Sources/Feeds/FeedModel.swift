package import Espalier

/// The types of one way to declare a feed, by the macro or as `Codable` alone.
package protocol FeedModel: NormalizedModel, Sendable {
    associatedtype PersonModel: NormalizedModel & Sendable

    init(_ feed: Feed)
    static func model(of person: Person) -> PersonModel
    static func plain(_ person: PersonModel) -> Person
    var plain: Feed { get }
}

extension Feed: FeedModel {
    package init(_ feed: Feed) { self = feed }
    package static func model(of person: Person) -> Person { person }
    package static func plain(_ person: Person) -> Person { person }
    package var plain: Feed { self }
}

extension CodableFeed: FeedModel {
    package static func model(of person: Person) -> CodablePerson { CodablePerson(person) }
    package static func plain(_ person: CodablePerson) -> Person { person.plain }
}
