import Espalier
import Feeds
import Foundation

/// A directory for one measurement, which is removed with this object.
final class Scratch {
    let path = NSTemporaryDirectory() + "espalier-models-\(UInt64.random(in: .min ... .max))"

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// - Parameter memory: The budget of the memory for decoded trees. Most benchmarks measure
    ///   how trees are decoded, and need none.
    func cache(_ name: String, memory: ByteCount = ByteCount(0)) throws -> NormalizedCache {
        var configuration = Self.configuration
        configuration.memoryBudget = memory
        return try NormalizedCache(directory: path + "/" + name, configuration: configuration)
    }

    /// Neither side waits for the disk: the disk is not what is measured.
    static var configuration: Configuration {
        Configuration(budget: .gibibytes(1), durability: .noSync, compression: .none)
    }

    /// Copies records to an environment of their own.
    func environment(with records: RawRecords) throws -> RawEnvironment {
        let environment = try RawEnvironment(directory: path + "/records")
        try environment.write(records)
        return environment
    }
}

extension NormalizedCache {
    /// Returns the model, which must be there.
    func hit<Model: IdentifiedModel>(_ type: Model.Type, _ identifier: String) throws -> Model {
        switch readOutcome(type, identifier, consistency: .snapshot) {
        case .hit(let hit): return hit.value
        case .miss(let reason): throw BenchmarkError.miss("\(reason)")
        }
    }
}
