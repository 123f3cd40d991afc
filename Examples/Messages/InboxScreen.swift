#if Macros
import Espalier

/// A list of messages. It draws what its data provider has, and receives steps that a table view
/// could animate.
@MainActor
final class InboxScreen: CollectionDataProviderDelegate {
    private let messages: CollectionDataProvider<Message>

    init(_ manager: DataModelManager) {
        messages = CollectionDataProvider(dataModelManager: manager)
        messages.delegate = self
    }

    /// Shows the cached messages until the server has replied.
    func open() async throws {
        _ = try await messages.fetch("inbox")
        draw("opened")
    }

    func serverAnswered(_ new: [Message]) {
        messages.setData(new, cacheKey: "inbox")
        draw("from the server")
    }

    /// Shows a message at once. It is on disk, with what the server is to do, and stays so until
    /// `drain` has sent it.
    func send(_ message: Message, through outbox: Outbox<SendMessage>) throws {
        let operation = SendMessage(id: message.id, text: message.text)
        try outbox.add(operation, id: "Message:\(message.id)") { batch in
            batch.append([message], toCollection: "inbox")
        }
    }

    /// Waits until the list shows a message.
    func shows(_ id: Int) async {
        for await shown in messages.values where shown.contains(where: { $0.id == id }) { return }
    }

    /// Waits until the list shows all messages before one as sent.
    func showsAsSent(before id: Int) async {
        for await shown in messages.values
        where shown.allSatisfy({ $0.isSent || $0.id >= id }) { return }
    }

    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?
    ) {
        switch collectionChanges {
        case .reset: draw("reset")
        case .changes(let changes): draw(changes.map { "\($0)" }.joined(separator: ", "))
        }
    }

    private func draw(_ reason: String) {
        print("inbox (\(reason))")
        for message in messages {
            let mark = message.isSent ? "" : "  (not sent yet)"
            print("    \(message.sender.name): \(message.text)\(mark)")
        }
    }
}
#endif
