// Follows the commits of another process: this program launches itself again.

import Espalier
import Foundation

struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

func otherProcess(_ directory: String) throws {
    let cache = try NormalizedCache.existing(directory: directory)
    try cache.set(Person(id: 1, name: "Ada")).wait()
    cache.close()
}

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.following
    let changes = cache.changes()  // changes from now on, of every process

    let other = Process()
    other.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    other.arguments = [directory]
    try other.run()

    for await change in changes {
        if change.isReset { break }  // read everything again
        print(change.written, change.origin == .thisProcess)  // ["Person:1"] false
        break
    }
    // snippet.end
    other.waitUntilExit()
    cache.close()
}

if CommandLine.arguments.count > 1 {
    try otherProcess(CommandLine.arguments[1])
} else {
    let directory = NSTemporaryDirectory() + "espalier-following"
    try? FileManager.default.removeItem(atPath: directory)
    try await example(in: directory)
}
