import ArgumentParser
import CAllocations
import Espalier

/// Measures listening to trees.
struct Registering: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "registering",
        abstract: "Bytes a node that is listened to, and how long it takes.")

    @Option(help: "Screens.") var screens = 1_000

    @MainActor
    func run() async throws {
        let shown = (0..<screens).map { Screen(Feed(number: $0 + 1, showing: nil)) }
        let nodes = screens * 499
        let manager = ConsistencyManager()
        await manager.flush()
        let before = heap_bytes()
        let time = await ContinuousClock().measure {
            for screen in shown { manager.addListener(screen) }
            await manager.flush()
        }
        let bytes = Double(heap_bytes() - before) / Double(nodes)
        print("registering \(nodes) nodes of \(screens) screens")
        print("  \((bytes * 10).rounded() / 10) bytes a node")
        print("  \((time.microseconds * 1_000 / Double(nodes)).rounded()) ns a node")
    }
}
