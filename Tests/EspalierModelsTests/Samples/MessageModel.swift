import EspalierModels
import Foundation

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

    func map(_ transform: (any Model) -> (any Model)?) -> MessageModel? {
        guard let newSender = transform(sender) as? UserModel else {
            return nil
        }
        return MessageModel(id: id, text: text, sender: newSender)
    }

    func forEach(_ visit: (any Model) -> Void) {
        visit(sender)
    }
}

func == (lhs: MessageModel, rhs: MessageModel) -> Bool {
    return lhs.id == rhs.id && lhs.text == rhs.text && lhs.sender == rhs.sender
}
