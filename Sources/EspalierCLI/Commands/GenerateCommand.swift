#if CommandLine
import ArgumentParser
import EspalierGeneration
import Foundation

/// `espalier generate`: writes models in Swift for the JSON of a server.
struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Writes models in Swift, from a JSON Schema or from samples of JSON.",
        discussion: """
            An object with an identifier becomes a node, any other object an inline model. A \
            member that may be null is a Field. So is a member of a node that is not always \
            there, and writes of such a node merge: what a response lacks keeps its value. Enums \
            and oneOf have a case for what they do not know.

            Objects of a sample are one type if they stand under one property, or have the same \
            members. Objects with the same identifier and different content are no nodes.

            The source is the same for the same input. --check compares it with the file, and \
            exits with 2 if they differ.
            """)

    @Option(
        help: ArgumentHelp(
            "A JSON Schema, version 2020-12; - is standard input.", valueName: "file"),
        completion: .file())
    var schema: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A document as the server sends it; may be repeated.", valueName: "file"),
        completion: .file())
    var sample: [String] = []

    @Option(
        name: .customLong("type"), parsing: .singleValue,
        help: ArgumentHelp(
            """
            The type whose records the objects under a property are (in a schema: those of a \
            definition); may be repeated. A name alone is the same as --root-type.
            """,
            valueName: "property=type"),
        transform: TypeChoice.init(parsing:))
    var types: [TypeChoice] = []

    @Option(
        help: ArgumentHelp(
            """
            The type of the document, or of the elements if it is an array (default: the title of \
            the schema, or the name of the file).
            """, valueName: "type"))
    var rootType: String?

    @Option(help: ArgumentHelp("The member that identifies an object.", valueName: "name"))
    var idKey = "id"

    @Option(
        help: ArgumentHelp(
            """
            What it means that a node lacks a member: it was not fetched (a Field, and writes \
            merge), or there is none (an optional, and writes replace).
            """, valueName: "not-fetched|none"))
    var absent = GenerationOptions.Absence.notFetched

    @Option(help: "The access level of the types.")
    var access = GenerationOptions.Access.internal

    @Option(
        name: .customLong("import"),
        help: ArgumentHelp(
            "The module to import: Espalier, or EspalierNormalized without the cache.",
            valueName: "module"))
    var module = "Espalier"

    @Flag(help: "Keeps dates, URLs and UUIDs of samples as strings.")
    var plainStrings = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file to write (default: standard output).", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Writes nothing, and exits with 2 if the file of --output is not up to date.")
    var check = false

    func validate() throws {
        guard (schema == nil) != sample.isEmpty else {
            throw ValidationError("Give a --schema, or one --sample or more.")
        }
        guard sample.count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("Standard input can be read only once; give - once.")
        }
        guard !check || output != nil else { throw ValidationError("--check needs --output.") }
        guard idKey != "" else {
            throw ValidationError("--id-key needs the name of a member.")
        }
        guard rootTypes.count <= 1, rootTypes != [""] else {
            throw ValidationError("The document has one type: give one name for it.")
        }
        let properties = types.compactMap(\.property)
        guard Set(properties).count == properties.count else {
            throw ValidationError("--type gives a property two types.")
        }
    }

    func run() throws {
        let source: String
        do {
            source = try self.source()
        } catch let error as GenerationError {
            for problem in error.problems.dropLast() { Console.error("\(problem)") }
            throw CommandFailure(error.problems.last.map { "\($0)" } ?? "nothing to generate")
        }
        guard let output else { return try Console.write(source) }
        let file = URL(fileURLWithPath: output)
        let isCurrent = (try? Data(contentsOf: file)) == Data(source.utf8)
        if check {
            guard !isCurrent else { return }
            throw CommandFailure(
                "\(output) is not up to date: generate it again without --check", kind: .miss)
        }
        // A file that stays as it is needs not be compiled again.
        guard !isCurrent else { return }
        try CommandFailure.naming(output) {
            try Data(source.utf8).write(to: file, options: .atomic)
        }
    }

    private var rootTypes: [String] {
        [rootType].compactMap(\.self) + types.filter { $0.property == nil }.map(\.type)
    }

    private func source() throws -> String {
        var options = GenerationOptions()
        options.rootType = rootTypes.first
        options.idKey = idKey
        options.access = access
        options.module = module
        options.absence = absent
        options.keepsStrings = plainStrings
        for choice in types {
            if let property = choice.property { options.records[property] = choice.type }
        }
        let generator = Generator(options)
        var hasIdentifiers = false
        let documents = try (schema.map { [$0] } ?? sample).map {
            try document(InputFile(path: $0), &hasIdentifiers)
        }
        let source =
            try schema == nil
            ? generator.source(fromSamples: documents)
            : generator.source(fromSchema: documents[0].data, named: documents[0].name)
        if !hasIdentifiers {
            Console.note(
                """
                no object has the member '\(idKey)', so no model has records of its own; \
                --id-key names the member that identifies an object.
                """)
        }
        return source
    }

    /// Returns a document as it is. The parser of the tool sees it first: it is stricter than that
    /// of the generator, and names the line of a mistake.
    ///
    /// - Parameter hasIdentifiers: Becomes `true` if an object of the document has the member that
    ///   identifies it, or the properties of a schema have it.
    private func document(
        _ file: InputFile, _ hasIdentifiers: inout Bool
    ) throws -> (name: String, data: Data) {
        let bytes = try file.bytes()
        let value = try file.parse(bytes)
        hasIdentifiers = hasIdentifiers || value.contains(member: idKey)
        return (Self.name(of: file), Data(bytes))
    }

    /// The name of the file alone: the source must not depend on the folder.
    private static func name(of file: InputFile) -> String {
        file.isStandardInput ? file.name : URL(fileURLWithPath: file.path).lastPathComponent
    }
}

/// The argument of `--type`: `user=User`, or the name of the document's type.
struct TypeChoice: Equatable {
    /// Nil for the document.
    let property: String?
    let type: String

    init(parsing text: String) throws(ArgumentProblem) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let type = parts.last, !parts.contains("") else {
            throw ArgumentProblem("'\(text)' is not of the form property=type.")
        }
        property = parts.count > 1 ? String(parts[0]) : nil
        self.type = String(type)
    }
}

extension GenerationOptions.Absence: ExpressibleByArgument {}
extension GenerationOptions.Access: ExpressibleByArgument {}
#endif
