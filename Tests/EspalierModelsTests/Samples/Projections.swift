import EspalierModels

// Two projections of one person, and a model that is two projections by itself.

struct FullPerson: Model, Equatable {
    let id: Int
    let name: String
    let city: String
    var modelIdentifier: String? { "Person:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> FullPerson? { self }
    func forEach(_ visit: (any Model) -> Void) {}

    func merge(_ model: any Model) -> any Model {
        switch model {
        case let model as FullPerson: model
        case let model as ShortPerson: FullPerson(id: id, name: model.name, city: city)
        default: self
        }
    }
}

struct ShortPerson: Model, Equatable {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
    func map(_ transform: (any Model) -> (any Model)?) -> ShortPerson? { self }
    func forEach(_ visit: (any Model) -> Void) {}

    func merge(_ model: any Model) -> any Model {
        switch model {
        case let model as ShortPerson: model
        case let model as FullPerson: ShortPerson(id: id, name: model.name)
        default: self
        }
    }
}

struct PartialPerson: SimpleModel, Equatable {
    let city: String?
    var modelIdentifier: String? { "Person:1" }
    var projectionIdentifier: String { city == nil ? "PartialPerson" : "PartialPerson+city" }
}
