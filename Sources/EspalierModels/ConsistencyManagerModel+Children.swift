/// What becomes of a child.
package enum ChildOutcome {
    case kept
    /// Nil leaves it out.
    case replaced((any ConsistencyManagerModel)?)
}

// `Model` hands out its children as `any Model`. To hand on each as `any ConsistencyManagerModel`
// copies it into a box of its own, and to take it back casts it: half the time of an update that
// passes hundreds of children by. So a child is offered, and converted only for whoever wants it.
extension ConsistencyManagerModel {
    package func forEachChild(_ visit: (_ child: () -> any ConsistencyManagerModel) -> Void) {
        if let model = self as? any Model {
            model.forEach { (child: any Model) -> Void in visit { child } }
        } else {
            forEach { child in visit { child } }
        }
    }

    package func mapChildren(
        _ transform: (_ child: () -> any ConsistencyManagerModel) -> ChildOutcome
    ) -> (any ConsistencyManagerModel)? {
        guard let model = self as? any Model else {
            return map { child in
                switch transform({ child }) {
                case .kept: child
                case .replaced(let new): new
                }
            }
        }
        return Self.mapped(model, transform)
    }

    private static func mapped<M: Model>(
        _ model: M, _ transform: (_ child: () -> any ConsistencyManagerModel) -> ChildOutcome
    ) -> (any ConsistencyManagerModel)? {
        let mapped: M? = model.map { (child: any Model) -> (any Model)? in
            switch transform({ child }) {
            case .kept: child
            case .replaced(let new): new as? any Model
            }
        }
        return mapped
    }
}
