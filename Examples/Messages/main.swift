// A messenger without a display: two screens over the same data, a server that pushes, messages
// that are sent without a network, and a process that is killed meanwhile.
//
//     swift run Messages
#if Macros
import Espalier
import Foundation

let ada = Person(id: 1, name: "Ada")
let ben = Person(id: 2, name: "Ben")

/// The first launch, as a process of its own, which is killed at the end.
@MainActor
func launchAndDie(_ directory: String) async throws {
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

    print("-- a message is deleted")
    manager.deleteModel(Message(id: 10, text: "Hello", sender: ada), context: "deleted")
    await manager.flush()

    print("-- two messages are sent without a network, and the app is killed")
    let outbox = cache.outbox("messages", of: SendMessage.self)
    for (id, text) in [(12, "How are you?"), (13, "Are you there?")] {
        try inbox.send(
            Message(id: id, text: text, sender: ben, isSent: false), through: outbox)
        await inbox.shows(id)
    }
    let report = try await drain(outbox, to: Server(isOnline: false), inbox)
    print("sent \(report.sent), \(try outbox.operations().count) wait")
    fflush(nil)
    kill(getpid(), SIGKILL)
}

/// Sends what waits, unless there is no network.
func drain(
    _ outbox: Outbox<SendMessage>, to server: Server, _ inbox: InboxScreen
) async throws -> OutboxReport {
    try await outbox.drain { error in
        error is Server.Offline ? .stop : .tryAgain
    } send: { operation, queued in
        // So that the screen draws after each message, and each run prints the same.
        await inbox.showsAsSent(before: operation.id)
        return .sent(try await server.send(operation, idempotencyKey: queued.id))
    }
}

if CommandLine.arguments.count > 1 {
    try await launchAndDie(CommandLine.arguments[1])
}
let directory =
    NSTemporaryDirectory() + "espalier-messages-\(ProcessInfo.processInfo.processIdentifier)"
defer { try? FileManager.default.removeItem(atPath: directory) }
let firstLaunch = Process()
firstLaunch.executableURL = Bundle.main.executableURL
firstLaunch.arguments = [directory]
try firstLaunch.run()
firstLaunch.waitUntilExit()

print("-- second launch, offline")
let cache = try NormalizedCache(directory: directory)
let manager = DataModelManager(cache: cache)
let inbox = InboxScreen(manager)
let profile = ProfileScreen(manager)
try await inbox.open()
try await profile.open("Profile:1")

print("-- there is a network: the messages are sent")
let outbox = cache.outbox("messages", of: SendMessage.self)
let report = try await drain(outbox, to: Server(isOnline: true), inbox)
await inbox.showsAsSent(before: .max)
print("sent \(report.sent), \(try outbox.operations().count) wait")
cache.close()
#else
print("The models of this sample are written by a macro: build with the trait Macros.")
#endif
