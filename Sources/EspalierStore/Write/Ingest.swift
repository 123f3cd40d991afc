import EspalierModels
public import EspalierRecords
public import Foundation

// From the bytes of a server's response to merged models, in one step.
extension NormalizedCache {
    /// Decodes the models of a JSON document, merges them into the cache in one commit, and returns
    /// them with everything that is known of them.
    ///
    /// ```swift
    /// let statuses = try await cache.ingest(data, as: [Status].self)
    /// ```
    ///
    /// A field that the document lacks keeps its stored value. Nothing is stored if the document is
    /// not valid JSON, has two fields of the same name in one object, or does not fit the type.
    /// Fields of the same name are accepted in a document that is not UTF-8, and by a decoder that
    /// allows JSON 5.
    ///
    /// May be called on any thread. The decoder must not be changed meanwhile. It decodes once; if
    /// it refuses the document without saying where, it decodes copies of the document with other
    /// numbers, to find the place.
    ///
    /// - Parameters:
    ///   - data: The document: a JSON array of models.
    ///   - type: The type of the models.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare.
    ///   - decoder: Decodes the document.
    /// - Returns: The merged models, in the order of the document. A model that still lacks a
    ///   required field of a node below it, because an older record of that node was damaged, is
    ///   returned as it was decoded.
    /// - Throws: ``IngestError`` for a document that can't be decoded; a ``CacheError`` if a model
    ///   has no identifier or can't be stored.
    /// - Complexity: Decoding and one commit. The models are read back in the commit if a record
    ///   has kept something that they lack, or if a node occurs twice with different content.
    @discardableResult
    public func ingest<Model: IdentifiedModel & Decodable>(
        _ data: Data, as type: [Model].Type, policy: WritePolicy = .merge,
        decoder: JSONDecoder = JSONDecoder()
    ) async throws -> [Model] {
        let models = try await Self.decode(type, from: data, by: decoder)
        guard models.allSatisfy({ $0.modelIdentifier?.isEmpty == false }) else {
            throw CacheError.noIdentifier(of: Model.self)
        }
        guard !models.isEmpty else { return [] }
        return try await transaction { transaction in
            // Without stored fields that the models lack, the models are what a read would return.
            if try transaction.store(models, policy: TreePolicy(policy)) { return models }
            return models.map { model in
                model.modelIdentifier.flatMap { transaction.read(Model.self, $0) } ?? model
            }
        }
    }

    /// Decodes the model of a JSON document, merges it into the cache, and returns it with
    /// everything that is known of it.
    ///
    /// - Parameters:
    ///   - data: The document: a JSON object.
    ///   - type: The type of the model.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare.
    ///   - decoder: Decodes the document.
    /// - Returns: The merged model.
    /// - Throws: The same errors as `ingest` of an array.
    @discardableResult
    public func ingest<Model: IdentifiedModel & Decodable>(
        _ data: Data, as type: Model.Type, policy: WritePolicy = .merge,
        decoder: JSONDecoder = JSONDecoder()
    ) async throws -> Model {
        let model = try await Self.decode(type, from: data, by: decoder)
        guard let identifier = model.modelIdentifier, !identifier.isEmpty else {
            throw CacheError.noIdentifier(of: Model.self)
        }
        return try await transaction { transaction in
            if try transaction.store([model], policy: TreePolicy(policy)) { return model }
            return transaction.read(Model.self, identifier) ?? model
        }
    }

    private static func decode<Value: Decodable & Sendable>(
        _ type: Value.Type, from data: Data, by decoder: JSONDecoder
    ) async throws -> Value {
        let isLenient = decoder.allowsJSON5
        // On another processor meanwhile: it takes a tenth of the time of decoding.
        async let duplicate = isLenient ? nil : JSONScan.duplicate(in: data)
        do {
            let value = try decoder.decode(type, from: data)
            if let problem = await duplicate { throw IngestError(problem) }
            return value
        } catch let error as IngestError {
            throw error
        } catch {
            let problem =
                IngestError.hasNoPath(error) && !isLenient
                ? JSONScan.problem(in: data) { _ = try decoder.decode(type, from: $0) } : nil
            throw problem.map(IngestError.init) ?? IngestError(error)
        }
    }
}

/// A document that can't be decoded. Nothing of it was stored.
public struct IngestError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where in the document: `$[3].user.name`; `$` for the document as a whole.
    public let path: String
    /// What is wrong there, in English.
    public let reason: String

    /// The message for developers, in English.
    public var description: String { "The document does not fit at \(path): \(reason)" }

    init(_ problem: JSONScan.Problem) {
        path = problem.path
        reason = problem.reason
    }

    /// Returns whether an error of a decoder does not say where the document is wrong.
    static func hasNoPath(_ error: any Error) -> Bool {
        guard case .dataCorrupted(let context)? = error as? DecodingError else { return false }
        return context.codingPath.isEmpty
    }

    init(_ error: any Error) {
        let (keys, reason): ([any CodingKey], String) =
            switch error as? DecodingError {
            case .typeMismatch(_, let context), .valueNotFound(_, let context),
                .dataCorrupted(let context):
                (context.codingPath, Self.reason(context))
            case .keyNotFound(let key, let context):
                (context.codingPath + [key], "the field is missing")
            default: ([], "\(error)")
            }
        path = keys.reduce("$") { path, key in
            path + (key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)")
        }
        self.reason = reason
    }

    private static func reason(_ context: DecodingError.Context) -> String {
        guard let cause = context.underlyingError as NSError?,
            let detail = cause.userInfo[NSDebugDescriptionErrorKey] as? String
        else { return context.debugDescription }
        return "\(context.debugDescription) \(detail)"
    }
}
