#if CommandLine
import ArgumentParser
import EspalierRecords
import EspalierStore

/// The options that say which objects of a document are nodes, and of which type.
struct IdentityOptions: ParsableArguments {
    @Option(
        name: .customLong("id-key"),
        help: ArgumentHelp(
            "The member that holds the identity of an object.",
            discussion: """
                An object in which it is a nonempty string or a whole number is the node TYPE:ID. \
                Any other object stays inline in its parent. In TYPE a colon is written %3A and a \
                percent sign %25.
                """,
            valueName: "name"))
    var givenIDKey: String?

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp(
            """
            The type of the objects under a property (default: the property's name); may be \
            repeated. The property is the name of a member, not a path.
            """,
            valueName: "property=type"),
        transform: TypeMapping.init(parsing:))
    var types: [TypeMapping] = []

    @Option(
        help: ArgumentHelp(
            """
            The member that names the type of an object, such as __typename in answers of GraphQL. \
            Objects without it have the type of their property.
            """,
            valueName: "name"))
    var typeKey: String?

    @Option(
        help: ArgumentHelp(
            """
            The type of the models (default: the last name of the path to them, or root). Models \
            of several types need --type-key, or an import for each type.
            """,
            valueName: "type"))
    var rootType: String?

    @Flag(
        help: ArgumentHelp(
            "Keeps the stored values of members that an object lacks.",
            discussion:
                """
                A member that is null overwrites the stored value. Of an object that occurs \
                several times, the members of every occurrence are stored. Without this option, \
                an object replaces all members stored for its type and identity.
                """
        ))
    var merge = false

    @Flag(help: "With --merge, keeps the stored values of members that are null, too.")
    var nullKeeps = false

    var policy: WritePolicy { merge ? .merge : .replace }

    func validate() throws {
        guard givenIDKey != "" else {
            throw ValidationError("--id-key needs the name of a member.")
        }
        guard typeKey != "" else {
            throw ValidationError("--type-key needs the name of a member.")
        }
        guard rootType != "" else { throw ValidationError("--root-type needs a name.") }
        guard merge || !nullKeeps else { throw ValidationError("--null-keeps needs --merge.") }
        for (position, mapping) in types.enumerated() {
            let earlier = types[..<position].first {
                $0.property.hasSameBytes(as: mapping.property)
            }
            if let earlier, earlier != mapping {
                throw ValidationError("--type gives the property \(mapping.property) two types.")
            }
        }
    }

    /// Throws a `ValidationError` unless --id-key was given.
    func require() throws {
        guard givenIDKey != nil else {
            throw ValidationError("Missing expected argument '--id-key <name>'")
        }
    }

    /// The names of the given options.
    var given: [String] {
        [
            ("--id-key", givenIDKey != nil), ("--type", !types.isEmpty),
            ("--type-key", typeKey != nil), ("--root-type", rootType != nil),
            ("--merge", merge), ("--null-keeps", nullKeeps),
        ].filter(\.1).map(\.0)
    }

    /// The name of the identity member. Empty unless `require()` passed.
    var idKey: String { givenIDKey ?? "" }

    var rule: IdentityRule {
        IdentityRule(idKey: idKey, types: types, typeKey: typeKey, nullKeeps: nullKeeps)
    }

    /// Tells which mappings of types concern no member of the documents, nor the models at `path`,
    /// and whether no object has a member for its type.
    func noteUnused(in documents: [ModelDocument], at path: JSONPath) {
        if let typeKey, !documents.contains(where: { $0.hasMember(named: typeKey) }) {
            Console.note(
                "--type-key \(typeKey) had no effect: no object has a member of that name.")
        }
        let unused = types.filter { mapping in
            path.lastName?.hasSameBytes(as: mapping.property) != true
                && !documents.contains { $0.hasMember(named: mapping.property) }
        }
        for mapping in unused {
            Console.note(
                """
                --type \(mapping.property)=\(mapping.type) had no effect: no object has a member \
                of that name.
                """)
        }
    }

    /// Returns the type of the models at `path`.
    func rootType(at path: JSONPath) -> String {
        rootType ?? path.lastName.map(rule.type(under:)) ?? "root"
    }
}

/// The option that sets the budget of a new cache.
struct BudgetOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The most bytes that the directory of the cache may take, as in 50MiB.",
            discussion:
                """
                Applies to a new cache (default: 50MiB). espalier budget changes the budget of a \
                cache.
                """,
            valueName: "size"),
        transform: SizeArgument.init(parsing:))
    var budget: SizeArgument?

    func validate() throws { try Self.validate(budget) }

    /// Throws a `ValidationError` for a budget that no cache can have.
    static func validate(_ budget: SizeArgument?) throws {
        guard let budget else { return }
        let allowed = Configuration.smallestBudget.bytes...Configuration.largestBudget.bytes
        guard allowed.contains(budget.bytes) else {
            throw ValidationError("A budget must be between 1MiB and 64GiB.")
        }
    }
}

/// The option that sets how a command compresses the records it writes.
struct CompressionOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "none, or a zstd level from 1 (fastest) to 12 (smallest) (default: 3).",
            discussion:
                "Applies to the records that this command writes. All records stay readable.",
            valueName: "none|level"),
        transform: Self.parse)
    var compression: Compression?

    private static func parse(_ text: String) throws(ArgumentProblem) -> Compression {
        if text == "none" { return .none }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let level = Int(text),
            Compression.levels.contains(level)
        else {
            let levels = Compression.levels
            throw ArgumentProblem(
                "none, or a level from \(levels.lowerBound) to \(levels.upperBound)")
        }
        return .zstd(level: level)
    }
}
#endif
