import EspalierModels

/// A tree made anew by an update.
struct TreeChange {
    /// Nil when the whole tree was deleted.
    var model: (any ConsistencyManagerModel)?
    var updates = ModelUpdates()
    /// What happened to the root's children, by their place in `forEach` before.
    var childUpdates: [Int: Delivery.ChildUpdate] = [:]
    /// Old and new, for whoever asserts on replacements.
    var replacements: [(old: any ConsistencyManagerModel, new: any ConsistencyManagerModel)] = []
    /// The models that could not be without a deleted child.
    var cascaded: [any ConsistencyManagerModel] = []
    var hasWrongMapClass = false

    /// Whether there is something to tell the listener.
    var isChange: Bool { model == nil || !updates.isEmpty }

    /// A node made anew, with what changed in it and below.
    struct Part {
        var model: (any ConsistencyManagerModel)?
        var updates = ModelUpdates()
    }
}
