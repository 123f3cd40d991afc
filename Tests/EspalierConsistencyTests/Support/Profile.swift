import EspalierModels

/// One type that is three projections of a record: with `data`, with `otherData`, and with both.
final class Profile: ConsistencyManagerModel, Equatable {
    enum Kind: String { case data, otherData, both }

    let kind: Kind
    let id: String
    let data: Int?
    let otherData: Int?
    let child: Profile?
    let otherChild: Profile?

    init(
        _ kind: Kind, _ id: String, data: Int? = nil, otherData: Int? = nil, child: Profile? = nil,
        otherChild: Profile? = nil
    ) {
        self.kind = kind
        self.id = id
        self.data = data
        self.otherData = otherData
        self.child = child
        self.otherChild = otherChild
    }

    var modelIdentifier: String? { id }
    var projectionIdentifier: String { kind.rawValue }

    func map(_ transform: (Child) -> Child?) -> Child? {
        let child = child.flatMap { transform($0) as? Profile }
        let otherChild = otherChild.flatMap { transform($0) as? Profile }
        return Profile(
            kind, id, data: data, otherData: otherData, child: child, otherChild: otherChild)
    }

    func forEach(_ visit: (Child) -> Void) {
        if let child { visit(child) }
        if let otherChild { visit(otherChild) }
    }

    /// Keeps its children unless the other model is of the same projection.
    func mergeModel(_ model: Child) -> Child {
        guard let other = model as? Profile else { return self }
        if other.kind == kind { return other }
        let takesData = kind != .otherData && other.kind != .otherData
        let takesOther = kind != .data && other.kind != .data
        return Profile(
            kind, id, data: takesData ? other.data : data,
            otherData: takesOther ? other.otherData : otherData,
            child: child, otherChild: otherChild)
    }

    static func == (a: Profile, b: Profile) -> Bool {
        a.kind == b.kind && a.id == b.id && a.data == b.data && a.otherData == b.otherData
            && a.child == b.child
            && a.otherChild == b.otherChild
    }
}
