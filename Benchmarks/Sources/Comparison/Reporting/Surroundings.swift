import CLMDBRaw
import Foundation
import GRDB

/// The machine and the versions that a report was made with.
struct Surroundings: Codable, Sendable {
    var date = ISO8601DateFormatter().string(from: Date())
    var system = ProcessInfo.processInfo.operatingSystemVersionString
    var processors = ProcessInfo.processInfo.activeProcessorCount
    var processor = Self.processorName()
    var memoryBytes = Int(ProcessInfo.processInfo.physicalMemory)
    var isOptimised = Self.isOptimisedBuild
    var lmdb = "\(MDB_VERSION_MAJOR).\(MDB_VERSION_MINOR).\(MDB_VERSION_PATCH)"
    var sqlite = Self.sqliteVersion()

    private static var isOptimisedBuild: Bool {
        #if DEBUG
        false
        #else
        true
        #endif
    }

    private static func processorName() -> String {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    }

    private static func sqliteVersion() -> String {
        (try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }) ?? "unknown"
    }
}
