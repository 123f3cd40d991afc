#if CommandLine
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@testable import EspalierCLI

/// Runs the built `espalier` as a process in a folder that is removed with the test.
struct CommandLineTool {
    let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// The result of a run.
    struct Outcome: Sendable {
        let code: Int32
        let output: [UInt8]
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }

        func json() throws -> JSONValue { try JSONParser.parse(output) }

        /// The number under `name` in a result printed as JSON.
        func count(_ name: String) throws -> Int? {
            guard case .number(.int(let count))? = try json()[name] else { return nil }
            return Int(count)
        }
    }

    @discardableResult
    func callAsFunction(_ arguments: String..., input: String? = nil) throws -> Outcome {
        try run(arguments, input: input)
    }

    func run(_ arguments: [String], input: String? = nil) throws -> Outcome {
        let name = UUID().uuidString
        let process = Process()
        process.executableURL = URL(
            fileURLWithPath: try #require(Self.path, "the tool is not built"))
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        // Files, because a full pipe would block the process.
        let output = try folder.write("", to: "\(name).out")
        let errors = try folder.write("", to: "\(name).err")
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardInput = try FileHandle(
            forReadingFrom: folder.write(input ?? "", to: "\(name).in"))
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit, "\(arguments)")
        return Outcome(
            code: process.terminationStatus, output: Array(try Data(contentsOf: output)),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
    }

    /// Runs a command with a terminal as its standard output, and returns what it prints there. The
    /// terminal writes a carriage return before each newline.
    func outputOnTerminal(_ arguments: [String]) throws -> [UInt8] {
        let (terminal, screen) = try Self.openTerminal()
        let process = Process()
        process.executableURL = URL(
            fileURLWithPath: try #require(Self.path, "the tool is not built"))
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.standardOutput = screen
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        try screen.close()
        // The read fails when no process has the terminal open any more.
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe read(terminal.fileDescriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { break }
            output += buffer[..<count]
        }
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(arguments)")
        return output
    }

    private static func openTerminal() throws -> (terminal: FileHandle, screen: FileHandle) {
        let terminal = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0)
        #if os(Linux)
        // Glibc's module lacks `unlockpt` and `ptsname`, which do this.
        var (isLocked, number) = (Int32(0), Int32(0))
        try #require(unsafe ioctl(terminal, 0x4004_5431, &isLocked) == 0)
        try #require(unsafe ioctl(terminal, 0x8004_5430, &number) == 0)
        let name = "/dev/pts/\(number)"
        #else
        try #require(grantpt(terminal) == 0 && unlockpt(terminal) == 0)
        let name = try #require(unsafe ptsname(terminal).map { unsafe String(cString: $0) })
        #endif
        let screen = unsafe open(name, O_RDWR | O_NOCTTY)
        try #require(screen >= 0)
        return (
            FileHandle(fileDescriptor: terminal, closeOnDealloc: true),
            FileHandle(fileDescriptor: screen, closeOnDealloc: true)
        )
    }

    /// Runs a command that must succeed, and print nothing on standard error.
    ///
    /// - Parameter note: The beginning of the one note that it prints there; nil for none.
    @discardableResult
    func succeed(
        _ arguments: String..., input: String? = nil, note: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Outcome {
        let outcome = try run(arguments, input: input)
        #expect(outcome.code == 0, sourceLocation: sourceLocation)
        if let note {
            #expect(
                outcome.errors.hasPrefix("espalier: note: \(note)"), sourceLocation: sourceLocation)
            #expect(
                outcome.errors.count(where: \.isNewline) == 1, sourceLocation: sourceLocation)
        } else {
            #expect(outcome.errors == "", sourceLocation: sourceLocation)
        }
        return outcome
    }

    /// Runs a command that must end with `code`, one line on standard error and nothing on standard
    /// output.
    @discardableResult
    func fail(
        _ code: Int32, _ arguments: String..., input: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Outcome {
        let outcome = try run(arguments, input: input)
        #expect(outcome.code == code, "\(arguments)", sourceLocation: sourceLocation)
        // Not `== []`: for a failure, Swift Testing would compare the output element by element,
        // which takes hours for a megabyte.
        #expect(outcome.output.isEmpty, "\(arguments)", sourceLocation: sourceLocation)
        #expect(
            outcome.errors.hasPrefix("espalier: "), "\(outcome.errors)",
            sourceLocation: sourceLocation)
        #expect(
            outcome.errors.count { $0 == "\n" } == 1, "\(outcome.errors)",
            sourceLocation: sourceLocation)
        #expect(outcome.errors.hasSuffix("\n"), sourceLocation: sourceLocation)
        return outcome
    }

    /// The tool beside the test bundle, where SwiftPM puts executables.
    static let path: String? = {
        #if os(Linux)
        let executable = "/proc/self/exe"
        #else
        let executable =
            Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? ""
        #endif
        var folder = URL(fileURLWithPath: executable).resolvingSymlinksInPath()
        for _ in 0..<6 {
            folder.deleteLastPathComponent()
            let path = folder.appendingPathComponent("espalier").path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        return nil
    }()
}
#endif
