import Foundation

/// A document named on the command line; `-` is standard input.
struct InputFile: Sendable {
    let path: String

    var isStandardInput: Bool { path == "-" }

    /// As messages call it.
    var name: String { isStandardInput ? "standard input" : path }

    /// The JSON in it.
    func parse() throws(CommandFailure) -> JSONValue {
        let bytes = try bytes()
        do {
            return try JSONParser.parse(bytes)
        } catch {
            throw CommandFailure("\(name): \(error)")
        }
    }

    private func bytes() throws(CommandFailure) -> [UInt8] {
        do {
            if isStandardInput { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) }
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            return Array(try file.readToEnd() ?? Data())
        } catch {
            throw CommandFailure("\(name): \(Self.reason(error))")
        }
    }

    /// What the system said, in few words.
    static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileNoSuchFile, .fileReadNoSuchFile: return "no such file"
        case .fileReadNoPermission, .fileWriteNoPermission: return "no permission"
        default: break
        }
        let error = error as NSError
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        guard cause.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return switch POSIXErrorCode(rawValue: Int32(clamping: cause.code)) {
        case .EISDIR: "is a directory"
        case .ENOSPC: "the disk is full"
        case .EBADF: "is closed"
        default: cause.localizedDescription
        }
    }
}
