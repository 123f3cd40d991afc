import EspalierModels
import Foundation

final class UserModel: SampleAppModel, Equatable {
    let id: Int
    let name: String
    let online: Bool

    init(id: Int, name: String, online: Bool) {
        self.id = id
        self.name = name
        self.online = online
    }

    required init?(data: [AnyHashable: Any]) {
        guard let id = data["id"] as? Int,
            let name = data["name"] as? String,
            let online = data["online"] as? Bool
        else {
            return nil
        }
        self.id = id
        self.name = name
        self.online = online
    }

    func data() -> [AnyHashable: Any] {
        return ["id": id, "name": name, "online": online]
    }

    var modelIdentifier: String? {
        return "UserModel:\(id)"
    }

    func map(_ transform: (any Model) -> (any Model)?) -> UserModel? {
        return self
    }

    func forEach(_ visit: (any Model) -> Void) {
    }
}

func == (lhs: UserModel, rhs: UserModel) -> Bool {
    return lhs.id == rhs.id && lhs.name == rhs.name && lhs.online == rhs.online
}
