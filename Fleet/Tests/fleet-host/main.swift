import EspalierFleet
import EspalierRedis
import EspalierStore
import FleetFixtures
import Foundation

// One host of a fleet, for the attacks in the tests: reads and changes at random, and writes down
// what it has done, until it is killed or its standard input ends.
//
//     fleet-host HOST SEED DIRECTORY LOG PORT...

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 5, let host = UInt64(arguments[1]), let seed = UInt64(arguments[2]) else {
    print("usage: fleet-host HOST SEED DIRECTORY LOG PORT...")
    exit(2)
}
var configuration = FleetConfiguration(
    servers: arguments.dropFirst(4).compactMap { Int($0) }.map {
        RedisAddress(host: "127.0.0.1", port: $0)
    })
configuration.host = host
configuration.near = .directory(arguments[3])
configuration.nearConfiguration = Configuration(budget: .mebibytes(4))
configuration.maximumStaleness = Attack.bound
configuration.staleLimit = .milliseconds(500)
configuration.timeout = .milliseconds(400)
let cache = try SharedCache(configuration)
let log = try AttackLog(arguments[4])
let attack = Attack(cache: cache, log: log)

Thread {
    // The end of standard input is the end of the attack.
    _ = FileHandle.standardInput.readDataToEndOfFile()
    exit(0)
}.start()

await withTaskGroup(of: Void.self) { group in
    for task in 0..<4 {
        group.addTask {
            var random = SeededRandom(seed: seed &* 31 &+ UInt64(task))
            while true { await attack.step(&random) }
        }
    }
}
