import CFaults
import Espalier

/// How a child opens the cache, and which of its system calls fail.
struct Plan {
    let directory: String
    let configuration: Configuration

    init(_ arguments: Arguments) throws {
        directory = try arguments.required("directory")
        var configuration = Configuration()
        configuration.budget = ByteCount(try arguments.number("budget", 50 << 20))
        configuration.limits.maximumDepth = try arguments.number(
            "depth", configuration.limits.maximumDepth)
        configuration.writeDeadline = .milliseconds(try arguments.number("deadline", 5_000))
        if let name = arguments["durability"] {
            guard let durability = Durability(rawValue: name) else {
                throw Mistake("there is no durability \(name)")
            }
            configuration.durability = durability
        }
        if arguments.isSet("uncompressed") { configuration.compression = .none }
        self.configuration = configuration
        if arguments["fault"] != nil || arguments["record"] != nil { faults_watch(directory) }
        if let record = arguments["record"] { faults_record(record) }
        if let text = arguments["fault"] {
            let parts = text.split(separator: ":").compactMap { Int($0) }
            guard parts.count == 4 else { throw Mistake("--fault needs four numbers") }
            faults_plan(Int32(parts[0]), Int64(parts[1]), Int32(parts[2]), Int32(parts[3]))
        }
    }

    func open() throws -> NormalizedCache {
        try NormalizedCache(directory: directory, configuration: configuration)
    }
}
