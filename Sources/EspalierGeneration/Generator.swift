package import Foundation

/// Writes Swift types for JSON, from a schema or from samples.
///
/// ```swift
/// var options = GenerationOptions()
/// options.rootType = "Order"
/// let source = try Generator(options).source(fromSchema: data, named: "order.schema.json")
/// ```
///
/// Both inputs become a `ModelSet`, which `SwiftEmitter` prints. The module knows Foundation alone,
/// so that an app that uses the build plugin fetches no further package.
package struct Generator: Sendable {
    private let options: GenerationOptions

    /// - Parameter options: What the user chose.
    package init(_ options: GenerationOptions) { self.options = options }

    /// Returns the source of the types of a JSON Schema.
    ///
    /// - Parameters:
    ///   - schema: The document.
    ///   - name: The name of its file, without folders.
    /// - Throws: `GenerationError` with every part that no type can follow.
    package func source(
        fromSchema schema: Data, named name: String
    ) throws(GenerationError) -> String {
        let document = try JSON(parsing: schema, name: name)
        let models = try SchemaReader.models(of: document, name: name, options: options)
        return try source(of: models, from: [name])
    }

    /// Returns the source of types that read all samples.
    ///
    /// - Parameter samples: Documents of one kind, with the names of their files.
    /// - Throws: `GenerationError` if a document is no JSON, or has no object.
    package func source(
        fromSamples samples: [(name: String, data: Data)]
    ) throws(GenerationError) -> String {
        var documents: [JSON] = []
        for sample in samples {
            documents.append(try JSON(parsing: sample.data, name: sample.name))
        }
        let name = samples.first?.name ?? "sample"
        let models = try SampleReader.models(of: documents, name: name, options: options)
        return try source(of: models, from: samples.map(\.name))
    }

    /// - Parameter names: The names of the documents.
    private func source(
        of models: ModelSet, from names: [String]
    ) throws(GenerationError) -> String {
        let nameless = models.declarations.first { declaration in
            guard case .object(let object) = declaration.body else { return false }
            return object.members.contains { $0.key.isEmpty }
        }
        if let nameless {
            throw GenerationError([
                Problem(
                    names.first ?? "", "",
                    """
                    an object of the type \(nameless.shortName) has a member with an empty name, \
                    which no property can have
                    """)
            ])
        }
        return SwiftEmitter(models, options: options).file(from: names)
    }
}

/// A part of a document from which no types can be made.
package struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The name of the document.
    package let document: String
    /// A JSON pointer, such as `#/properties/name`; empty for the whole document.
    package let pointer: String
    /// What is wrong, and what to do.
    package let text: String

    init(_ document: String, _ pointer: String, _ text: String) {
        self.document = document
        self.pointer = pointer
        self.text = text
    }

    package var description: String {
        pointer.isEmpty ? "\(document): \(text)" : "\(document): \(pointer): \(text)"
    }
}

/// The problems of a document, all of them, in the order of their places.
package struct GenerationError: Error, Sendable, Equatable, CustomStringConvertible {
    package let problems: [Problem]

    init(_ problems: [Problem]) { self.problems = problems }

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
