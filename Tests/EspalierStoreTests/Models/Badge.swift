import EspalierModels

/// A model as providers use them: `SimpleModel` and `Codable`.
struct Badge: SimpleModel, Codable, Equatable {
    var id: String?
    var count: Int

    var modelIdentifier: String? { id }
}

/// A model that cannot be stored.
struct Opaque: SimpleModel, Equatable {
    var modelIdentifier: String? { "Opaque:1" }
}
