// A messenger without a display: two screens over the same data, a server that pushes, and a
// relaunch.
//
//     swift run Messages
#if Macros
import Espalier
import Foundation

let directory =
    NSTemporaryDirectory() + "espalier-messages-\(ProcessInfo.processInfo.processIdentifier)"
defer { try? FileManager.default.removeItem(atPath: directory) }

let ada = Person(id: 1, name: "Ada")
let ben = Person(id: 2, name: "Ben")

do {
    let cache = try NormalizedCache(directory: directory)
    let manager = DataModelManager(cache: cache)
    let inbox = InboxScreen(manager)
    let profile = ProfileScreen(manager)

    print("-- first launch")
    inbox.serverAnswered([
        Message(id: 10, text: "Hello", sender: ada),
        Message(id: 11, text: "Hello yourself", sender: ben),
    ])
    profile.serverAnswered(
        Profile(id: 1, person: ada, latest: Message(id: 10, text: "Hello", sender: ada)))

    print("-- the server pushes a new name")
    manager.updateModel(Person(id: 1, name: "Ada Lovelace"), context: "push")
    await manager.flush()

    print("-- a message is sent, and another deleted")
    inbox.send(Message(id: 12, text: "How are you?", sender: ben))
    manager.deleteModel(Message(id: 10, text: "Hello", sender: ada), context: "deleted")
    await manager.flush()

    print("-- a notification extends the inbox, whoever shows it")
    CollectionDataProvider<Message>.append(
        [Message(id: 13, text: "Very well", sender: Person(id: 1, name: "Ada Lovelace"))],
        cacheKey: "inbox",
        dataModelManager: manager)
    await manager.flush()
    cache.close()
}

print("-- second launch, offline")
let cache = try NormalizedCache(directory: directory)
let manager = DataModelManager(cache: cache)
let inbox = InboxScreen(manager)
let profile = ProfileScreen(manager)
try await inbox.open()
try await profile.open("Profile:1")
cache.close()
#else
print("The models of this sample are written by a macro: build with the trait Macros.")
#endif
