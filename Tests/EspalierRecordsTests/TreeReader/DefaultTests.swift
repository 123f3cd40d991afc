import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Defaults of missing fields")
struct DefaultTests {
    /// A type that is `Codable` but no `FieldValue`.
    struct Tag: Codable, Equatable { var text = "t" }

    /// A record as an earlier version wrote it.
    struct Former: NormalizedModel {
        let id: String?
        var after: Int?
        var tag: Tag?
        var likes: Int??
        var isAbsent = false
        var modelIdentifier: String? { id }

        init(id: String?) { self.id = id }
        init(from decoder: inout RecordDecoder) throws { throw MissReason.notFound }

        func encode(to encoder: inout RecordEncoder) throws {
            if let likes { try encoder.encode(likes, forKey: "likes") }
            if isAbsent { encoder.encodeAbsent(forKey: "likes") }
            if isAbsent { encoder.encodeAbsent(forKey: "tag") }
            if let tag { try encoder.encode(tag, forKey: "tag") }
            try encoder.encode(1, forKey: "after")
        }
    }

    struct Now: NormalizedModel, Equatable {
        var likes = 5
        var tag = Tag(text: "default")
        var optional: Int? = 6
        var after = 1
        var modelIdentifier: String? { "f" }

        init() {}

        init(from decoder: inout RecordDecoder) throws {
            likes = try decoder.decode(forKey: "likes", default: 5)
            tag = try decoder.decode(forKey: "tag", default: Tag(text: "default"))
            optional = try decoder.decode(Int?.self, forKey: "likes", default: 6)
            after = try decoder.decode(forKey: "after")
        }

        func encode(to encoder: inout RecordEncoder) throws {}
    }

    struct Around<Held: NormalizedModel>: NormalizedModel {
        let held: Held
        var modelIdentifier: String? { "around" }
        init(_ held: Held) { self.held = held }
        init(from decoder: inout RecordDecoder) throws { held = try decoder.decode(forKey: "held") }
        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(held, forKey: "held")
        }
    }

    /// Reads a record of its own, and an inline one.
    func read(_ change: (inout Former) -> Void) throws -> [Result<Now, MissReason>] {
        try ["f", nil].map { id in
            let source = DictionaryRecordSource()
            var former = Former(id: id)
            change(&former)
            guard id == nil else {
                try source.store(former)
                return source.read("f", as: Now.self)
            }
            try source.store(Around(former))
            return source.read("around", as: Around<Now>.self).map(\.held)
        }
    }

    func both(_ body: (inout Now) -> Void) -> [Result<Now, MissReason>] {
        var now = Now()
        body(&now)
        return [.success(now), .success(now)]
    }

    @Test("A missing field and an absent one have their default")
    func missing() throws {
        #expect(try read { _ in } == both { _ in })
        #expect(try read { $0.isAbsent = true } == both { _ in })
    }

    @Test("A field that is there is read instead of its default, nil too")
    func present() throws {
        #expect(try read { $0.likes = 3 } == both { ($0.likes, $0.optional) = (3, 3) })
        #expect(try read { $0.tag = Tag(text: "x") } == both { $0.tag = Tag(text: "x") })
        for result in try read({ $0.likes = .some(nil) }) {
            guard case .failure(.undecodable(let path, _)) = result else {
                Issue.record("nil was taken for missing")
                continue
            }
            #expect(path.hasSuffix("likes"))
        }
    }

    @Test("A default leaves an optional that is nil alone, with the type written out or not")
    func optional() throws {
        struct Optionals: NormalizedModel, Equatable {
            var inferred: Int?
            var written: Int?
            init(_ inferred: Int?, _ written: Int?) {
                (self.inferred, self.written) = (inferred, written)
            }
            init(from decoder: inout RecordDecoder) throws {
                inferred = try decoder.decode(forKey: "likes", default: 6)
                written = try decoder.decode(Int?.self, forKey: "likes", default: 6)
            }
            func encode(to encoder: inout RecordEncoder) throws {}
        }
        let source = DictionaryRecordSource()
        var former = Former(id: "f")
        try source.store(former)
        #expect(source.read("f", as: Optionals.self) == .success(Optionals(6, 6)))
        former.likes = .some(nil)
        try source.store(former)
        #expect(source.read("f", as: Optionals.self) == .success(Optionals(nil, nil)))
    }

    @Test("The error that a default throws is thrown")
    func throwing() throws {
        struct Thrown: Error {}
        func refuse() throws -> Int { throw Thrown() }
        let source = DictionaryRecordSource()
        try source.store(Former(id: "f"))
        let treeReader = TreeReader(source: source)
        let handle = try #require(source.handle(of: "f"))
        let result = treeReader.read("f") {
            try treeReader.entry(handle, identifier: "f") {
                try $0.decodeModel(Int.self) {
                    try $0.decode(forKey: "likes", default: try refuse())
                }
            }
        }
        guard case .failure(.undecodable) = result else {
            Issue.record("no miss")
            return
        }
    }
}
