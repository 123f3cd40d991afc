import Testing

/// Every public declaration of `Sources` has a documentation comment, with `- Throws:` where it
/// throws and `- Parameter` or `- Parameters` where it has two parameters or more.
///
/// Witnesses are apart, because their protocol documents them: members that
/// - have a name of `standardWitnesses`, or
/// - have the name of a requirement of a protocol of this package to which their type conforms.
struct Documentation {
    /// Names of members that only protocols of the standard library and of swift-syntax ask for.
    static let standardWitnesses: Set<String> = [
        "==", "<", "hash", "description", "debugDescription", "encode", "makeIterator",
        "makeAsyncIterator", "next", "startIndex", "endIndex", "expansion", "errorDescription",
    ]

    /// Initialisers that the same protocols ask for, by their only parameter.
    static let standardInitializers: Set<String> = [
        "from", "rawValue", "stringLiteral", "integerLiteral", "floatLiteral", "booleanLiteral",
        "nilLiteral", "arrayLiteral", "dictionaryLiteral",
    ]

    private let declarations: [(file: SourceFile, declaration: Declaration)]

    /// The names in the inheritance clauses of each type and its extensions.
    private var conformances: [String: Set<String>] = [:]
    private var requirements: [String: Set<String>] = [:]
    private var internalTypes: Set<String> = []

    /// - Parameter files: All files of the package, because a conformance and its protocol may
    ///   stand in other files than the witness.
    init(files: [SourceFile]) {
        declarations = files.filter(\.isInSources).flatMap { file in
            Declaration.all(in: file).map { (file, $0) }
        }
        var publicTypes: Set<String> = []
        for (_, declaration) in declarations {
            if declaration.isType {
                conformances[declaration.name, default: []].formUnion(declaration.conformances)
                if declaration.isPublic {
                    publicTypes.insert(declaration.name)
                } else {
                    internalTypes.insert(declaration.name)
                }
            }
            guard let scope = declaration.scopes.last else { continue }
            conformances[scope.name, default: []].formUnion(scope.conformances)
            if scope.keyword == "protocol" {
                requirements[scope.name, default: []].insert(declaration.name)
            }
        }
        internalTypes.subtract(publicTypes)
    }

    /// The declarations that need documentation.
    var documented: [(file: SourceFile, declaration: Declaration)] {
        declarations.filter { _, declaration in
            declaration.isPublic && isVisible(declaration) && !isWitness(declaration)
        }
    }

    func violations() -> [Violation] {
        documented.compactMap { file, declaration in
            let comment = Self.comment(on: declaration, in: file)
            return Self.problem(of: declaration, comment: comment).map {
                file.violation(line: declaration.line, "\(declaration.name) \($0)")
            }
        }
    }

    private static func problem(of declaration: Declaration, comment: String) -> String? {
        if !comment.contains(where: \.isLetter) { return "is public and has no documentation" }
        if declaration.throwsErrors, !comment.contains("- Throws:") {
            return "throws, and its documentation has no \"- Throws:\""
        }
        if declaration.keyword != "case", declaration.parameters.count > 1,
            !comment.contains("- Parameter")
        {
            return "has parameters, and its documentation has no \"- Parameters:\""
        }
        return nil
    }

    /// Whether the types around the declaration are public, too.
    private func isVisible(_ declaration: Declaration) -> Bool {
        declaration.scopes.allSatisfy { $0.isPublic && !internalTypes.contains($0.name) }
    }

    private func isWitness(_ declaration: Declaration) -> Bool {
        guard let scope = declaration.scopes.last,
            !declaration.isType || scope.keyword != "protocol",
            declaration.keyword != "case"
        else { return false }
        if Self.standardWitnesses.contains(declaration.name) { return true }
        if declaration.name == "init", declaration.parameters.count == 1,
            Self.standardInitializers.contains(declaration.parameters[0])
        {
            return true
        }
        return scope.keyword != "protocol"
            && protocols(of: scope.name).contains {
                requirements[$0]?.contains(declaration.name) == true
            }
    }

    /// The protocols that a type conforms to, by any number of steps. An extension of a protocol
    /// has default implementations of its requirements.
    private func protocols(of type: String) -> Set<String> {
        var found: Set<String> = []
        var next = [type]
        while let name = next.popLast() {
            if found.insert(name).inserted { next += conformances[name] ?? [] }
        }
        return found
    }

    private static func comment(on declaration: Declaration, in file: SourceFile) -> String {
        var line = declaration.firstLine - 1
        var comment: [String] = []
        var isBlock = false
        while line > 0 {
            let text = file.commentLines[line - 1].drop { $0 == " " }
            isBlock = isBlock || text.hasSuffix("*/")
            let isAlone = !file.codeLines[line - 1].contains { $0 != " " }
            guard isAlone, isBlock || text.hasPrefix("///") else { break }
            comment.append(String(text))
            if text.hasPrefix("/*") { break }
            line -= 1
        }
        return comment.reversed().joined(separator: "\n")
    }
}

@Suite("Every public declaration is documented")
struct DocumentationTests {
    @Test("Every public declaration of the repository is documented")
    func repository() {
        let documentation = Documentation(files: Repository.current.swiftFiles)
        let names = documentation.documented.map(\.declaration.name)
        #expect(names.count > 600)
        #expect(
            Set(names).isSuperset(of: ["NormalizedCache", "set", "modelIdentifier", "LMDBError"]))
        expectNone(documentation.violations())
    }

    private func violations(_ text: String) -> [Violation] {
        Documentation(files: [SourceFile(path: "Sources/M/a.swift", text: text)]).violations()
    }

    @Test(
        "Public types without documentation are found",
        arguments: [
            "public struct A {}", "// A.\npublic enum A {}", "/// A.\n\npublic final class A {}",
            "open class A {}", "extension B {\n    public indirect enum A {}\n}",
            "import X\n@frozen\npublic struct A {}", "///\npublic protocol A {}",
            "public actor A {}", "let x = 1 /// A.\npublic struct B {}", "public typealias A = B",
        ])
    func undocumentedType(text: String) {
        #expect(violations(text).count == 1)
    }

    @Test(
        "Public members without documentation are found",
        arguments: [
            "public func a() {}", "public private(set) var a = 1", "private(set) public var a = 1",
            "public static let a = 1", "public init() {}", "public init?(b: Int) {}",
            "public subscript(a: Int) -> Int { 1 }", "@inlinable\npublic mutating func a() {}",
            "nonisolated public var a: Int { 1 }", "public static func + (a: Self, b: Self) {}",
            "public func encoded() {}", "public init(b: Int, from: Int) {}",
        ])
    func undocumentedMember(text: String) {
        #expect(violations("/// A.\npublic struct A: P {\n    \(text)\n}").count == 1)
        #expect(violations("extension A {\n\(text)\n}").count == 1)
        #expect(violations("struct A {\n\(text)\n}") == [])
        #expect(violations("struct A {}\nextension A {\n\(text)\n}") == [])
    }

    @Test("Cases and requirements without documentation are found")
    func undocumentedCase() {
        #expect(violations("/// A.\npublic enum A {\n    case a, b\n    case c(Int)\n}").count == 2)
        #expect(violations("/// A.\npublic enum A {\n    /// A or B.\n    case a, b\n}") == [])
        #expect(
            violations("/// A.\npublic enum A {\n    var a: B { switch self { case a: 1 } }\n}")
                == [])
        #expect(violations("enum A {\n    case a\n}") == [])
        let requirements = "associatedtype B: C\nvar a: Int { get }\nfunc b()\ninit(c: Int)\n"
        #expect(violations("/// A.\npublic protocol A {\n\(requirements)}").count == 4)
        #expect(violations("protocol A {\n\(requirements)}") == [])
    }

    @Test(
        "Functions that throw or have parameters say so in their documentation",
        arguments: [
            ("func a() throws", "", 1), ("func a() async throws(E) -> B", "", 1),
            ("func a() throws", "- Throws: E.", 0), ("func a() throws(Never)", "", 0),
            ("func a<B: P<C>>(_ b: () throws -> B) rethrows", "", 0),
            ("init(a: Int) throws", "", 1), ("var a: Int { get throws { 1 } }", "", 1),
            ("func a(b: Int, c: [D: E], _ f: (G, H) -> Void = { _, _ in })", "", 1),
            ("func a(b: Int, c: D)", "- Parameter b: A number.", 0), ("func a(b: (C, D))", "", 0),
        ])
    func fields(declaration: String, field: String, found: Int) {
        let body = declaration.hasSuffix("}") ? "" : " {}"
        #expect(
            violations("/// A.\n///\n/// \(field)\npublic \(declaration)\(body)").count == found)
    }

    @Test("Documented declarations and witnesses are not found")
    func documented() {
        for text in [
            "/// A.\npublic struct A {}",
            "/// A.\n@frozen\n@available(macOS 15, *)\npublic struct A {}",
            "/// A.\n@available(\n    *, noasync, message: \"b\"\n)\n@c public struct A {}",
            "/** A. */\npublic enum A {}", "/**\n A.\n */\npublic enum A {}", "struct A {}",
            "/// A.\n@frozen public struct A {}", "public import struct M.A",
            "/// A.\npublic nonisolated final class A {}",
            "/// A.\npublic struct A: Hashable {\n    public func hash(into h: inout H) {}\n"
                + "    public static func == (a: A, b: A) -> Bool { true }\n"
                + "    public init(from decoder: any Decoder) throws {}\n}",
        ] {
            #expect(violations(text) == [])
        }
        let witness = "extension A {\n    public func b(c: Int, d: Int) throws {}\n}\n"
        let base = "protocol B {\n    func b(c: Int, d: Int) throws\n}\nprotocol C: B {}\n"
        #expect(violations(witness + base + "extension A: C {\n    var x: Int { 1 }\n}") == [])
        #expect(violations(witness + base + "/// A.\npublic struct A: C {}") == [])
        #expect(violations(witness + base + "/// A.\npublic struct A {}").count == 1)
    }
}
