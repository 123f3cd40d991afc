import EspalierModels

final class ChildModel: Model, Equatable {
    let id: Int?
    let name: String?

    init(id: Int? = nil, name: String? = nil) {
        self.id = id
        self.name = name
    }

    var modelIdentifier: String? { id.map { "ChildModel:\($0)" } }
    func map(_ transform: (any Model) -> (any Model)?) -> ChildModel? { self }
    func forEach(_ visit: (any Model) -> Void) {}

    func merge(_ model: any Model) -> any Model {
        switch model {
        case let model as FullChildModel: ChildModel(id: model.id, name: model.name)
        case let model as ChildModel: model
        default: self
        }
    }

    static func == (a: ChildModel, b: ChildModel) -> Bool { a.id == b.id && a.name == b.name }
}

/// Another projection of a child.
final class FullChildModel: Model, Equatable {
    let id: Int?
    let name: String?
    let otherData: Int?

    init(id: Int? = nil, name: String? = nil, otherData: Int? = nil) {
        self.id = id
        self.name = name
        self.otherData = otherData
    }

    var modelIdentifier: String? { id.map { "ChildModel:\($0)" } }
    func map(_ transform: (any Model) -> (any Model)?) -> FullChildModel? { self }
    func forEach(_ visit: (any Model) -> Void) {}

    func merge(_ model: any Model) -> any Model {
        switch model {
        case let model as FullChildModel: model
        case let model as ChildModel:
            FullChildModel(id: model.id, name: model.name, otherData: otherData)
        default: self
        }
    }

    static func == (a: FullChildModel, b: FullChildModel) -> Bool {
        a.id == b.id && a.name == b.name && a.otherData == b.otherData
    }
}

final class ParentModel: Model, Equatable {
    let id: Int
    let name: String
    let requiredChild: ChildModel
    let otherChildren: [ChildModel]

    init(
        id: Int, name: String = "", requiredChild: ChildModel = ChildModel(),
        otherChildren: [ChildModel] = []
    ) {
        self.id = id
        self.name = name
        self.requiredChild = requiredChild
        self.otherChildren = otherChildren
    }

    var modelIdentifier: String? { "ParentModel:\(id)" }

    func map(_ transform: (any Model) -> (any Model)?) -> ParentModel? {
        guard let requiredChild = transform(requiredChild) as? ChildModel else { return nil }
        let otherChildren = otherChildren.compactMap { transform($0) as? ChildModel }
        return ParentModel(
            id: id, name: name, requiredChild: requiredChild, otherChildren: otherChildren)
    }

    func forEach(_ visit: (any Model) -> Void) {
        visit(requiredChild)
        otherChildren.forEach(visit)
    }

    static func == (a: ParentModel, b: ParentModel) -> Bool {
        a.id == b.id && a.name == b.name && a.requiredChild == b.requiredChild
            && a.otherChildren == b.otherChildren
    }
}

extension ChildModel {
    static func row(_ id: Int?, _ name: String = "") -> ChildModel {
        ChildModel(id: id, name: name)
    }
}

extension ParentModel {
    static func named(_ id: Int, _ name: String) -> ParentModel { ParentModel(id: id, name: name) }
}

extension [ParentModel] {
    var ids: [Int] { map(\.id) }
    var names: [String] { map(\.name) }
}
