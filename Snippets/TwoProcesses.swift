// One cache in two processes: this program launches itself again.

import Espalier
import Foundation

struct Person: Codable, NormalizedModel {
    let id: Int
    let name: String
    var modelIdentifier: String? { "Person:\(id)" }
}

// snippet.other
func otherProcess(_ directory: String) throws {
    let cache = try NormalizedCache.existing(directory: directory)  // throws if there is no cache
    print(try cache.statistics().budget)  // 8388608 bytes: the stored budget, not the default
    try cache.set(Person(id: 1, name: "Ada Lovelace")).wait()
    cache.close()
}
// snippet.end

func example(in directory: String) async throws {
    // snippet.one
    let cache = try NormalizedCache(
        directory: directory, configuration: Configuration(budget: .mebibytes(8)))
    try await cache.set(Person(id: 1, name: "Ada")).committed

    let other = Process()
    other.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    other.arguments = [directory]
    try other.run()
    other.waitUntilExit()

    print(await cache.read(Person.self, "Person:1")?.name ?? "a miss")  // Ada Lovelace
    // snippet.end
}

if CommandLine.arguments.count > 1 {
    try otherProcess(CommandLine.arguments[1])
} else {
    let directory = NSTemporaryDirectory() + "espalier-two-processes"
    try? FileManager.default.removeItem(atPath: directory)
    try await example(in: directory)
}
