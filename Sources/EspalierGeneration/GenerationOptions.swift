package import Foundation

/// What the user chooses about the generated source.
package struct GenerationOptions: Sendable {
    /// The name of the type of the document; nil for the schema's title, or the file's name.
    package var rootType: String?
    /// The member that identifies an object.
    package var idKey = "id"
    /// The types whose records an object has: by the name of the property in a sample, by the name
    /// of the definition in a schema.
    package var records: [String: String] = [:]
    package var access = Access.internal
    /// The module to import: `EspalierNormalized` is the macro without the cache.
    package var module = "Espalier"
    package var absence = Absence.notFetched
    /// Whether dates, URLs and UUIDs of a sample stay strings.
    package var keepsStrings = false

    package init() {}

    package enum Access: String, Sendable, CaseIterable { case `internal`, package, `public` }

    /// What it means that an object with an identifier lacks a member.
    package enum Absence: String, Sendable, CaseIterable {
        /// The response is partial. The member is a `Field`, and writes merge.
        case notFetched = "not-fetched"
        /// There is none. The member is an optional, and writes replace.
        case none
    }
}

extension GenerationOptions {
    /// The name of the file in which a target keeps its options for the plugin.
    package static let fileName = "espalier-generate.json"

    /// Reads the options of a target:
    ///
    ///     {"access": "public", "import": "EspalierNormalized", "idKey": "uuid", "absent": "none",
    ///      "types": {"user_row": "User"}}
    ///
    /// - Parameters:
    ///   - data: The file. It may lack any of the members.
    ///   - name: The name of the file, for the error.
    /// - Throws: `GenerationError` if a member is unknown, or has a value that it cannot have.
    package init(parsing data: Data, named name: String) throws(GenerationError) {
        let document = try JSON(parsing: data, name: name)
        guard let members = document.members else {
            throw GenerationError([Problem(name, "", "the options are an object")])
        }
        var problems: [Problem] = []
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            if let problem = take(value, for: key) {
                let pointer = JSONPointer.root.appending(key).description
                problems.append(Problem(name, pointer, problem))
            }
        }
        guard problems.isEmpty else { throw GenerationError(problems) }
    }

    /// Sets one option. Returns what is wrong with it, if anything.
    private mutating func take(_ value: JSON, for key: String) -> String? {
        switch key {
        case "access":
            guard let access = value.text.flatMap(Access.init) else {
                return "one of \(Access.allCases.map(\.rawValue).joined(separator: ", "))"
            }
            self.access = access
        case "absent":
            guard let absence = value.text.flatMap(Absence.init) else {
                return "one of \(Absence.allCases.map(\.rawValue).joined(separator: ", "))"
            }
            self.absence = absence
        case "import":
            guard let module = value.text else { return "the name of a module" }
            self.module = module
        case "idKey":
            guard let idKey = value.text else { return "the name of a member" }
            self.idKey = idKey
        case "types":
            let types = (value.members ?? [:]).compactMapValues(\.text)
            guard let members = value.members, types.count == members.count else {
                return "an object with the names of types"
            }
            records = types
        default: return "this option is unknown"
        }
        return nil
    }
}
