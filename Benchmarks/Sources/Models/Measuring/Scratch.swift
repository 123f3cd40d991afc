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

    func cache(_ name: String) throws -> NormalizedCache {
        try NormalizedCache(directory: path + "/" + name, configuration: Self.configuration)
    }

    /// Neither side waits for the disk: the disk is not what is measured.
    static var configuration: Configuration {
        Configuration(budget: .gibibytes(1), durability: .noSync, compression: .none)
    }

    /// Copies the file of a closed cache, and opens the copy by LMDB alone.
    func copy(of name: String) throws -> RawEnvironment {
        let cache = path + "/" + name
        let generation = try String(contentsOfFile: cache + "/current", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let target = path + "/" + name + "-copy"
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: cache + "/" + generation + "/data.mdb", toPath: target + "/data.mdb")
        return try RawEnvironment(directory: target, isReadingCache: true)
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
