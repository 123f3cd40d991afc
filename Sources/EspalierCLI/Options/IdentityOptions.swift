import ArgumentParser
import EspalierRecords

/// Which objects of a document are nodes, and of what type.
struct IdentityOptions: ParsableArguments {
    @Option(
        name: .customLong("id-key"),
        help: ArgumentHelp(
            "The member that holds an object's identity; needed, but for --records.",
            discussion: """
                Under it a string that is not empty or a whole number makes the object a node, TYPE:ID. Objects \
                without it, or with anything else under it, stay inline in their parent. In TYPE a colon is written %3A \
                and a per cent sign %25.
                """,
            valueName: "name"))
    var givenIDKey: String?

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp(
            "The type of objects under a property; the property's name without. May be given more than once.",
            valueName: "property=type"),
        transform: TypeMapping.init(parsing:))
    var types: [TypeMapping] = []

    @Option(
        help: ArgumentHelp(
            "The type of the models themselves; without, that of the property at the end of --path, or root.",
            valueName: "type"))
    var rootType: String?

    @Flag(
        help: ArgumentHelp(
            "Members that an object lacks, or that are null, keep what the cache has.",
            discussion:
                "Without it an object replaces all members that objects of its type had under its identity."
        ))
    var merge = false

    var policy: WritePolicy { merge ? .merge : .replace }

    func validate() throws {
        guard givenIDKey != "" else {
            throw ValidationError("--id-key needs the name of a member.")
        }
        guard rootType != "" else { throw ValidationError("--root-type needs a name.") }
        for (position, mapping) in types.enumerated() {
            let earlier = types[..<position].first {
                $0.property.hasSameBytes(as: mapping.property)
            }
            if let earlier, earlier != mapping {
                throw ValidationError("--type gives the property \(mapping.property) two types.")
            }
        }
    }

    /// Throws unless it was said what identifies an object.
    func require() throws {
        guard givenIDKey != nil else {
            throw ValidationError("Missing expected argument '--id-key <name>'")
        }
    }

    /// The names of the options that were given.
    var given: [String] {
        [
            ("--id-key", givenIDKey != nil), ("--type", !types.isEmpty),
            ("--root-type", rootType != nil),
            ("--merge", merge),
        ].filter(\.1).map(\.0)
    }

    /// Required by `require()`.
    var idKey: String { givenIDKey ?? "" }

    var rule: IdentityRule { IdentityRule(idKey: idKey, types: types) }

    /// The type of models that stand at `path`.
    func rootType(at path: RootPath) -> String {
        rootType ?? path.names.last.map(rule.type(under:)) ?? "root"
    }
}
