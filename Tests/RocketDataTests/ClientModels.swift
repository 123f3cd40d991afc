import ConsistencyManager
import Foundation
import RocketData

// A client as it was written for RocketData, in Swift 4: classes, `NSError`, protocols without
// `any`, operators outside of their types. Nothing in it knows Espalier.

/// The base of the client's models: what its cache stores.
protocol SampleAppModel: Model {
    init?(data: [AnyHashable: Any])
    func data() -> [AnyHashable: Any]
}

final class UserModel: SampleAppModel, Equatable {
    let id: Int
    let name: String

    init(id: Int, name: String) {
        self.id = id
        self.name = name
    }

    required init?(data: [AnyHashable: Any]) {
        guard let id = data["id"] as? Int, let name = data["name"] as? String else { return nil }
        self.id = id
        self.name = name
    }

    func data() -> [AnyHashable: Any] {
        return ["id": id, "name": name]
    }

    var modelIdentifier: String? {
        return "UserModel:\(id)"
    }

    func map(_ transform: (Model) -> Model?) -> UserModel? {
        return self
    }

    func forEach(_ visit: (Model) -> Void) {
    }
}

func == (lhs: UserModel, rhs: UserModel) -> Bool {
    return lhs.id == rhs.id && lhs.name == rhs.name
}

final class MessageModel: SampleAppModel, Equatable {
    let id: Int
    let text: String
    let sender: UserModel

    init(id: Int, text: String, sender: UserModel) {
        self.id = id
        self.text = text
        self.sender = sender
    }

    required init?(data: [AnyHashable: Any]) {
        guard let id = data["id"] as? Int,
            let text = data["text"] as? String,
            let senderData = data["sender"] as? [AnyHashable: Any],
            let sender = UserModel(data: senderData)
        else {
            return nil
        }
        self.id = id
        self.text = text
        self.sender = sender
    }

    func data() -> [AnyHashable: Any] {
        return ["id": id, "text": text, "sender": sender.data()]
    }

    var modelIdentifier: String? {
        return "MessageModel:\(id)"
    }

    func map(_ transform: (Model) -> Model?) -> MessageModel? {
        guard let newSender = transform(sender) as? UserModel else {
            // Without its sender, the message goes as well.
            return nil
        }
        return MessageModel(id: id, text: text, sender: newSender)
    }

    func forEach(_ visit: (Model) -> Void) {
        visit(sender)
    }
}

func == (lhs: MessageModel, rhs: MessageModel) -> Bool {
    return lhs.id == rhs.id && lhs.text == rhs.text && lhs.sender == rhs.sender
}

/// A model without children, which is compared by hand.
struct BadgeModel: SimpleModel {
    let id: String
    let count: Int

    var modelIdentifier: String? {
        return id
    }

    func isEqual(to model: SimpleModel) -> Bool {
        guard let model = model as? BadgeModel else { return false }
        return model.id == id && model.count == count
    }
}

/// A model for the consistency manager alone.
final class PlaceModel: ConsistencyManagerModel {
    let id: String
    let name: String

    init(id: String, name: String) {
        self.id = id
        self.name = name
    }

    var modelIdentifier: String? {
        return id
    }

    func map(
        _ transform: (ConsistencyManagerModel) -> ConsistencyManagerModel?
    ) -> ConsistencyManagerModel? {
        return self
    }

    func forEach(_ visit: (ConsistencyManagerModel) -> Void) {
    }

    func isEqualToModel(_ other: ConsistencyManagerModel) -> Bool {
        guard let other = other as? PlaceModel else { return false }
        return other.id == id && other.name == name
    }
}

/// The superclass that another client has, which parses its models by `ParsingHelpers`.
class ParsedModel {
    let text: String

    required init(text: String) {
        self.text = text
    }
}

class ParsedMessage: ParsedModel {
}
