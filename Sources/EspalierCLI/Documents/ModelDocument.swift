#if CommandLine
import Foundation

/// The models of one document, and its name for messages.
struct ModelDocument: Sendable {
    let name: String
    let models: [JSONTree]

    init(name: String, models: [JSONTree]) {
        self.name = name
        self.models = models
    }

    /// Reads the models at `path` in `file`.
    ///
    /// - Parameter isSequence: Whether the file has several documents, each with a value at `path`.
    init(
        _ file: InputFile, isSequence: Bool = false, at path: JSONPath, type: String,
        rule: IdentityRule
    ) throws(CommandFailure) {
        let values = isSequence ? try file.parseSequence() : [try file.parse()]
        do {
            var models: [JSONTree] = []
            for value in values {
                models += try path.models(in: value).map { rule.tree(from: $0, type: type) }
            }
            self.init(name: file.name, models: models)
        } catch {
            throw CommandFailure("\(file.name): \(error.message)")
        }
    }

    /// Returns whether an object in one of the models has a member of this name.
    func hasMember(named name: String) -> Bool { models.contains { $0.hasMember(named: name) } }

    /// Throws unless every model has an identity and can be stored on its own.
    func requireIdentities(under idKey: String) throws(CommandFailure) {
        let missing = models.indices.filter { models[$0].modelIdentifier == nil }
        guard let first = missing.first else { return }
        let reason =
            models[first].hasOwnMember(named: idKey)
            ? ": an identity is a whole number, or a string that is not empty" : ""
        throw CommandFailure(
            """
            \(name): \(missing.count) of \(models.count) models have no identity under \(idKey), \
            the first at index \(first)\(reason). Nothing was imported. Give another --id-key or \
            --path, or store them inline with --collection.
            """)
    }
}

/// A file named on the command line; `-` is standard input.
struct InputFile: Sendable {
    let path: String
    /// Whether a parse error may suggest --records, which reads an export.
    var mayBeExport = false

    var isStandardInput: Bool { path == "-" }

    /// The name for messages.
    var name: String { isStandardInput ? "standard input" : path }

    /// Reads and parses the file.
    func parse() throws(CommandFailure) -> JSONValue { try parse(bytes()) }

    /// Parses the bytes of the file.
    func parse(_ bytes: [UInt8]) throws(CommandFailure) -> JSONValue {
        do {
            return try JSONParser.parse(bytes)
        } catch {
            throw CommandFailure("\(name): \(error)\(advice(bytes, error))")
        }
    }

    /// Reads and parses the documents in the file.
    func parseSequence() throws(CommandFailure) -> [JSONValue] {
        let bytes = try bytes()
        do {
            return try JSONParser.parseSequence(bytes)
        } catch {
            throw CommandFailure("\(name): \(error)\(advice(bytes, error))")
        }
    }

    /// Returns what helps with a file that is no JSON document; empty for nothing.
    private func advice(_ bytes: [UInt8], _ error: JSONParseError) -> String {
        let kinds = ["node", "key", "collection"].map { #"{"kind":"\#($0)""# }
        if mayBeExport, kinds.contains(where: { bytes.starts(with: $0.utf8) }) {
            return ". To import an export, add --records."
        }
        if bytes.prefix(4).contains(0) || bytes.starts(with: [0xFF, 0xFE])
            || bytes.starts(with: [0xFE, 0xFF])
        {
            return ". This looks like UTF-16 or UTF-32: convert it to UTF-8."
        }
        if mayBeExport, error.problem == .expected("the end of the input") {
            return ". A file has one document; with --lines it may have several."
        }
        return ""
    }

    /// Reads the file.
    func bytes() throws(CommandFailure) -> [UInt8] {
        try CommandFailure.naming(name) {
            let file = try open()
            defer { close(file) }
            return Array(try file.readToEnd() ?? Data())
        }
    }

    func open() throws -> FileHandle {
        isStandardInput
            ? .standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    }

    func close(_ file: FileHandle) {
        if !isStandardInput { try? file.close() }
    }

    /// Returns the reason of a system error in few words.
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

    /// Returns the POSIX code of `error`, or nil if it has none, and its underlying error.
    static func systemError(_ error: any Error) -> (code: Int32?, cause: NSError) {
        let error = error as NSError
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        return (cause.domain == NSPOSIXErrorDomain ? Int32(clamping: cause.code) : nil, cause)
    }
}

extension JSONPath {
    /// The path to a document as a whole.
    static let document = JSONPath(steps: [])

    /// The last name of the path; nil if it has none.
    var lastName: String? {
        for case .name(let name) in steps.reversed().map(\.selector) { return name }
        return nil
    }

    /// Returns the values that the path selects. An array counts as its elements.
    ///
    /// - Throws: A `CommandFailure` if the path selects nothing.
    func models(in document: JSONValue) throws(CommandFailure) -> [JSONValue] {
        let values = values(in: document)
        guard !values.isEmpty else {
            let prefixes = steps.indices.map { JSONPath(steps: Array(steps[...$0])) }
            let missing = prefixes.first { $0.values(in: document).isEmpty } ?? self
            if missing.selectsElements(in: document) { return [] }
            throw CommandFailure(
                "the document has no \(missing).\(missing.advice(in: document))")
        }
        return values.flatMap { value in
            if case .array(let elements) = value { elements } else { [value] }
        }
    }

    /// Whether the last step selects all elements of arrays: there may be none.
    private func selectsElements(in document: JSONValue) -> Bool {
        guard let last = steps.last, case .all = last.selector, !last.isDescendant else {
            return false
        }
        let parents = JSONPath(steps: steps.dropLast()).values(in: document)
        return !parents.isEmpty
            && parents.allSatisfy { if case .array = $0 { true } else { false } }
    }

    /// Returns what helps with a path whose last step selects nothing.
    private func advice(in document: JSONValue) -> String {
        let parent = JSONPath(steps: steps.dropLast())
        if case .name(let name)? = steps.last?.selector {
            for case .array in parent.values(in: document) {
                let whole = JSONPath(
                    steps: parent.steps + [
                        Step(selector: .all, isDescendant: false),
                        Step(selector: .name(name), isDescendant: false),
                    ])
                return " \(parent.steps.isEmpty ? "It" : "\(parent)") is an array: write \(whole)."
            }
        }
        return " Give the path to the models with --path; a name with a dot is written ['a.b']."
    }
}
#endif
