import Foundation

/// A document named on the command line; `-` is standard input.
struct InputFile: Sendable {
    let path: String
    /// Whether the verb reads exports, too.
    var mayBeExport = false

    var isStandardInput: Bool { path == "-" }

    /// As messages call it.
    var name: String { isStandardInput ? "standard input" : path }

    /// The JSON in it.
    func parse() throws(CommandFailure) -> JSONValue {
        let bytes = try bytes()
        do {
            return try JSONParser.parse(bytes)
        } catch {
            let isExport = mayBeExport && bytes.starts(with: #"{"kind":"#.utf8)
            throw CommandFailure(
                "\(name): \(error)\(isExport ? ". Is it an export? Then say --records" : "")")
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
        let (code, cause) = systemError(error)
        guard let code else { return (error as NSError).localizedDescription }
        return switch POSIXErrorCode(rawValue: code) {
        case .EISDIR: "is a directory"
        case .ENOSPC: "the disk is full"
        case .EBADF: "is closed"
        default: cause.localizedDescription
        }
    }

    /// The number of the system's error, if it is one.
    static func systemError(_ error: any Error) -> (code: Int32?, cause: NSError) {
        let error = error as NSError
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        return (cause.domain == NSPOSIXErrorDomain ? Int32(clamping: cause.code) : nil, cause)
    }
}
