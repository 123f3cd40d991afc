package import EspalierModels

/// An edit of a listener's tree that only concerns the root's children: those in a range gave way
/// to others.
package struct TreeSplice: Sendable {
    package let range: Range<Int>
    package let models: [any ConsistencyManagerModel]
    /// The tree before, and the one after.
    package let old: ChangeTime
    package let new: ChangeTime

    package init(
        _ range: Range<Int>, _ models: [any ConsistencyManagerModel], from old: ChangeTime,
        to new: ChangeTime
    ) {
        self.range = range
        self.models = models
        self.old = old
        self.new = new
    }
}

/// A root that hands out its children by their places, so that thousands of them are passed by at
/// no cost.
package protocol ListModel: ConsistencyManagerModel {
    var childCount: Int { get }
    func child(at place: Int) -> any ConsistencyManagerModel
    /// With other children in some places; nil leaves one out.
    func replacing(_ children: [Int: (any ConsistencyManagerModel)?]) -> any ConsistencyManagerModel
}
