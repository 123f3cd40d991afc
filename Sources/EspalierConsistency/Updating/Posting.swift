import EspalierModels

/// An update as it was submitted.
struct Posting: Sendable {
    let model: any ConsistencyManagerModel
    let isDeletion: Bool
    let context: (any Sendable)?
    let time: ChangeTime
    /// Which listeners it is for: those before the next clearing.
    let era: Int
    /// Told, on the main actor, what could not be without a deleted model.
    let onCascade: (@MainActor @Sendable ([any ConsistencyManagerModel]) -> Void)?
}
