/// What the consistency manager asks, answered in terms of `Model`. The closures name their types:
/// without that each call would find the function it stands in.
extension Model {
    public func map(
        _ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)? {
        let mapped: Self? = map { (child: any Model) -> (any Model)? in
            transform(child) as? any Model
        }
        return mapped
    }

    public func forEach(_ visit: (any ConsistencyManagerModel) -> Void) {
        forEach { (child: any Model) -> Void in visit(child) }
    }

    public func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool {
        (other as? any Model).map { isEqual(to: $0) } ?? false
    }

    public func isEqual(to model: any SimpleModel) -> Bool {
        (model as? any Model).map { isEqual(to: $0) } ?? false
    }

    public func mergeModel(_ model: any ConsistencyManagerModel) -> any ConsistencyManagerModel {
        (model as? any Model).map { merge($0) } ?? self
    }
}
