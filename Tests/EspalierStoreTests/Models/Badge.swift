import EspalierModels

/// A model as providers know them: `SimpleModel` and `Codable`.
struct Badge: SimpleModel, Codable, Equatable {
    var id: String?
    var count: Int

    var modelIdentifier: String? { id }
}

/// A model that nothing can store.
struct Opaque: SimpleModel, Equatable {
    var modelIdentifier: String? { "Opaque:1" }
}
