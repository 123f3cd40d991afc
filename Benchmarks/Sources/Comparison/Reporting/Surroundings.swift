import Feeds
import Foundation

/// The machine, the system and the versions behind a report. Unknown facts are left out.
struct Surroundings: Codable, Sendable {
    var date = ISO8601DateFormatter().string(from: Date())
    var system = ProcessInfo.processInfo.operatingSystemVersionString
    var kernel = Self.kernelRelease()
    var processors = ProcessInfo.processInfo.activeProcessorCount
    var processor = Self.processorName()
    var memoryBytes = Int(ProcessInfo.processInfo.physicalMemory)
    /// The file system of the contenders' directory.
    var fileSystem: String?
    var isOptimised = Self.isOptimisedBuild
    var versions: Versions

    init(directory: String) {
        let scratch = try? Scratch(in: directory)
        (fileSystem, versions) = withExtendedLifetime(scratch) {
            (
                scratch.flatMap { Self.fileSystem(of: $0.path) },
                Versions(scratch: scratch?.path)
            )
        }
    }

    private static var isOptimisedBuild: Bool {
        #if DEBUG
        false
        #else
        true
        #endif
    }

    /// The machine, as plots name it.
    var machine: String {
        [String(processors), processor].compactMap(\.self).joined(separator: " × ")
    }

    /// All facts as a sentence without its full stop.
    var text: String {
        let parts = [
            date, processor == nil ? machine + " processors" : machine,
            Format.bytes(Double(memoryBytes)) + " of memory", system, kernel.map { "kernel " + $0 },
            fileSystem.map { "files on " + $0 },
        ]
        let versions = versions.all.map { "\($0.name) \($0.version)" }
        return [parts.compactMap(\.self), versions].filter { !$0.isEmpty }.map {
            $0.joined(separator: ", ")
        }
        .joined(separator: "; ")
            + (isOptimised ? "" : "; a debug build, whose figures mean nothing")
    }

    /// Returns the type of the file system that contains a directory.
    private static func fileSystem(of directory: String) -> String? {
        guard let resolved = realpath(directory, nil) else { return nil }
        defer { free(resolved) }
        return MountTable.ofThisSystem()?.mount(of: String(cString: resolved))?.type
    }

    private static func processorName() -> String? {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private static func kernelRelease() -> String? {
        (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8))?
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
