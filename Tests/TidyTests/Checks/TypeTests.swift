import Testing

@Suite("Types have a telling name, and public ones documentation")
struct TypeTests {
    @Test func names() {
        expectNone(Repository.current.swiftFiles.flatMap(TypeNames.violations))
    }

    @Test func documentation() {
        expectNone(Repository.current.swiftFiles.flatMap(DocumentedTypes.violations))
    }

    @Test(arguments: [
        "struct CacheManager {}", "public final class WriteHandler: P {}", "enum ByteUtils {}",
        "actor StoreImpl {}", "protocol NodeInfo {}", "extension A { typealias KeyHelper = B }",
    ])
    func vagueName(text: String) {
        #expect(
            TypeNames.violations(in: SourceFile(path: "Sources/M/a.swift", text: text)).count == 1)
    }

    @Test(arguments: [
        "class ConsistencyManager {}", "class DataModelManager {}", "struct Information {}",
        "// struct AInfo\nlet x = 1", "protocol ConsistencyManagerModel {}",
        "class func makeInfo() {}",
        "extension CacheManager {}",
    ])
    func goodName(text: String) {
        #expect(TypeNames.violations(in: SourceFile(path: "Sources/M/a.swift", text: text)) == [])
    }

    @Test(arguments: [
        "public struct A {}", "// A.\npublic enum A {}", "/// A.\n\npublic final class A {}",
        "open class A {}", "extension B {\n    public indirect enum A {}\n}",
        "import X\n@frozen\npublic struct A {}",
        "///\npublic protocol A {}", "public actor A {}",
        "let x = 1 /// A.\npublic struct B {}\npublic struct C {}",
    ])
    func undocumented(text: String) {
        #expect(
            DocumentedTypes.violations(in: SourceFile(path: "Sources/M/a.swift", text: text)).count
                == 1)
    }

    @Test(arguments: [
        "/// A.\npublic struct A {}",
        "/// A.\n@frozen\n@available(macOS 15, *)\npublic struct A {}",
        "/** A. */\npublic enum A {}", "struct A {}", "/// A.\n@frozen public struct A {}",
        "public import struct M.A", "/// A.\npublic nonisolated final class A {}",
    ])
    func documented(text: String) {
        #expect(
            DocumentedTypes.violations(in: SourceFile(path: "Sources/M/a.swift", text: text)) == [])
    }
}
