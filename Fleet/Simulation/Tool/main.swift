import FleetSimulation
import Foundation

// Simulates the fleets of `docs/FLEET.md`: `swift run -c release fleet-simulation`.
//
//     fleet-simulation                        a table of all scenarios
//     fleet-simulation seconds NAME           the reads of each second of a scenario
//     fleet-simulation fleet HOSTS SERVERS    a normal day of another fleet
//     fleet-simulation capacity               near hit rates of larger near caches, by a formula
//     fleet-simulation chart FILE             fleets of 10 to 3,000 hosts, as SVG
//     fleet-simulation measure                what a local redis-server needs for each request

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case nil:
    print(Scenario.heading)
    for scenario in Scenario.allCases {
        let outcome = FleetSimulation(scenario.model).run()
        print(Scenario.line(scenario.rawValue, scenario.model, outcome))
    }
case "seconds":
    guard arguments.count > 1, let scenario = Scenario(rawValue: arguments[1]) else {
        print("scenarios: " + Scenario.allCases.map(\.rawValue).joined(separator: "; "))
        exit(2)
    }
    print(Scenario.seconds(FleetSimulation(scenario.model).run()))
case "fleet":
    guard arguments.count > 2, let hosts = Int(arguments[1]), let servers = Int(arguments[2]),
        hosts > 0, servers > 0
    else {
        print("usage: fleet-simulation fleet HOSTS SERVERS")
        exit(2)
    }
    var model = FleetModel()
    model.hosts = hosts
    model.servers = servers
    model.duration = 4_000_000_000
    print(Scenario.heading)
    print(Scenario.line("\(hosts) hosts", model, FleetSimulation(model).run()))
case "capacity":
    let model = FleetModel()
    let reads = ZipfLaw(count: model.records, exponent: model.readExponent)
    let changes = ZipfLaw(count: model.records, exponent: model.changeExponent)
    for capacity in [20_000, 200_000, 2_000_000] {
        for hosts in [10, 100, 1_000] {
            let perRead = Double(hosts) * model.changesPerSecond / model.readsPerSecond
            let rate = reads.hitRate(ofCapacity: capacity, changes: (changes, perRead))
            print("\(capacity) copies, \(hosts) hosts: \(String(format: "%.3f", rate))")
        }
    }
case "chart":
    guard arguments.count > 1 else {
        print("usage: fleet-simulation chart FILE")
        exit(2)
    }
    var points: [GrowthChart.Point] = []
    for hosts in [10, 30, 100, 300, 1_000, 3_000] {
        var model = FleetModel()
        model.hosts = hosts
        model.duration = 4_000_000_000
        let outcome = FleetSimulation(model).run()
        print(Scenario.line("\(hosts) hosts", model, outcome))
        points.append(GrowthChart.Point(model, outcome))
    }
    try GrowthChart(points).svg.write(toFile: arguments[1], atomically: true, encoding: .utf8)
case "measure": try await Measurement().run()
default:
    print(
        "usage: fleet-simulation [seconds NAME | fleet HOSTS SERVERS | capacity | chart FILE | measure]"
    )
    exit(2)
}
