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

    func send(_ message: Message) {
        messages.append([message])
        draw("sent")
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
        for message in messages { print("    \(message.sender.name): \(message.text)") }
    }
}
#endif
