import EspalierModels

/// A struct with children in every position: required, optional, and in an array.
struct ThreadModel: Model, Equatable {
    let id: Int
    let owner: UserModel
    let latest: MessageModel?
    let messages: [MessageModel]

    var modelIdentifier: String? { "ThreadModel:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> ThreadModel? {
        guard let owner = transform(owner) as? UserModel else { return nil }
        let latest = latest.flatMap { transform($0) as? MessageModel }
        let messages = messages.compactMap { transform($0) as? MessageModel }
        return ThreadModel(id: id, owner: owner, latest: latest, messages: messages)
    }

    func forEach(_ visit: (any Model) -> Void) {
        visit(owner)
        if let latest { visit(latest) }
        messages.forEach { visit($0) }
    }
}
