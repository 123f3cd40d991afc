import Espalier
import EspalierServer
import Hummingbird
import Logging

// Server PORT DIRECTORY serves feeds from a cache; Server PORT serves them from a dictionary.
let arguments = CommandLine.arguments.dropFirst()
guard let port = arguments.first.flatMap({ Int($0) }) else {
    fatalError("usage: Server PORT [DIRECTORY]")
}
let router = Router()
var cache: NormalizedCache?
if let directory = arguments.dropFirst().first {
    let opened = try NormalizedCache(
        directory: directory,
        configuration: Configuration(budget: .mebibytes(200), onFailure: .missAlways))
    opened.log(to: Logger(label: "cache"))
    addRoutes(to: router, cache: opened)
    cache = opened
} else {
    addRoutes(to: router, dictionary: FeedDictionary())
}
var logger = Logger(label: "server")
logger.logLevel = .notice
let application = Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
    logger: logger)
try await application.runService()
// Commits what still waits.
cache?.close()
