import Espalier
import Feeds

extension Operation {
    /// Keeps fifty screens of 601 nodes up to date in memory. Five of them show the change.
    static let consistency = [
        Operation("update-person-shown") {
            let manager = ConsistencyManager()
            let screens = await Screens(manager)
            return { number in
                let person = screens.person.edited(number)
                return {
                    manager.updateModel(person)
                    await manager.flush()
                }
            }
        },
        Operation("post-feed-edited") {
            let manager = ConsistencyManager()
            let screens = await Screens(manager)
            return { number in
                let feed = screens.feed.edited(number)
                return {
                    manager.updateModel(feed)
                    await manager.flush()
                }
            }
        },
        Operation("register-screen") {
            let manager = ConsistencyManager()
            return { number in
                let feed = Operation.feed(number)
                return {
                    let screen = await Screen(feed)
                    await manager.addListener(screen)
                    await manager.flush()
                    await manager.removeListener(screen)
                    await manager.flush()
                }
            }
        },
    ]
}

/// Screens that a manager keeps consistent.
private final class Screens: Sendable {
    let person: Person
    let feed: Feed
    /// Kept alive here, because the manager does not retain listeners.
    private let screens: [Screen]

    @MainActor
    init(_ manager: ConsistencyManager) async {
        let person = Operation.feed(0).posts[0].author
        let feeds = (0..<50).map { number in
            let feed = Operation.feed(number)
            return number % 10 == 0
                ? feed.copy { $0.posts[1] = $0.posts[1].copy { $0.author = person } } : feed
        }
        self.person = person
        feed = feeds[1]
        screens = feeds.map(Screen.init)
        for screen in screens { manager.addListener(screen) }
        await manager.flush()
    }
}

@MainActor
private final class Screen: ConsistencyManagerListener {
    private var model: (any ConsistencyManagerModel)?

    init(_ model: any ConsistencyManagerModel) { self.model = model }

    func currentModel() -> (any ConsistencyManagerModel)? { model }

    func modelUpdated(_ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?)
    {
        self.model = model
    }
}
