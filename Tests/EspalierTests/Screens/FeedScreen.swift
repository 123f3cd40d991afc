import Espalier

/// A list of messages, which redraws by the steps that it gets.
@MainActor
final class FeedScreen: CollectionDataProviderDelegate {
    let messages: CollectionDataProvider<Message>
    /// The drawn rows, computed from the steps only.
    private(set) var drawn: [Message] = []
    private(set) var calls = 0

    init(_ manager: DataModelManager) {
        messages = CollectionDataProvider(dataModelManager: manager)
        messages.delegate = self
    }

    func open() async throws {
        _ = try await messages.fetch("feed")
        drawn = messages.data
    }

    /// Shows the messages that the server has sent.
    func show(_ new: [Message]) {
        messages.setData(new, cacheKey: "feed")
        drawn = messages.data
    }

    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?
    ) {
        calls += 1
        guard case .changes(let changes) = collectionChanges else { return drawn = messages.data }
        for change in changes {
            switch change {
            case .insert(let index): drawn.insert(messages.data[index], at: index)
            case .delete(let index): drawn.remove(at: index)
            case .update(let index): drawn[index] = messages.data[index]
            }
        }
    }
}

/// A person with her pinned message.
@MainActor
final class ProfileScreen: DataProviderDelegate {
    let profile: DataProvider<Profile>
    private(set) var calls = 0

    init(_ manager: DataModelManager) {
        profile = DataProvider(dataModelManager: manager)
        profile.delegate = self
    }

    func open(_ identifier: String) async throws { _ = try await profile.fetch(identifier) }

    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {
        calls += 1
    }
}
