import Foundation
import Testing

@testable import EspalierGeneration

/// The source that a test has generated.
struct Generated: CustomStringConvertible {
    let text: String

    var description: String { text }

    /// Generates from a schema, as a file named `shop.schema.json`.
    init(schema: String, _ change: (inout GenerationOptions) -> Void = { _ in }) throws {
        var options = GenerationOptions()
        change(&options)
        text = try Generator(options).source(
            fromSchema: Data(schema.utf8), named: "shop.schema.json")
    }

    /// Generates from samples, as files named `shop.json`.
    init(samples: String..., change: (inout GenerationOptions) -> Void = { _ in }) throws {
        var options = GenerationOptions()
        change(&options)
        text = try Generator(options).source(
            fromSamples: samples.map { ("shop.json", Data($0.utf8)) })
    }

    /// The lines without indentation.
    var lines: [String] {
        text.split(separator: "\n").map { String($0.drop { $0 == " " }) }
    }

    /// The lines that begin declarations of types, up to the brace.
    var types: [String] {
        lines.compactMap { line in
            let words = ["struct ", "class ", "enum "]
            guard line.hasSuffix("{") || line.hasSuffix("{}"), words.contains(where: line.contains),
                !line.contains("Discriminator")
            else { return nil }
            return String(line.prefix { $0 != "{" }.dropLast())
        }
    }

    /// The lines inside of the type with this name, up to an empty line.
    func members(of type: String) -> [String] {
        let all = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = all.firstIndex { line in
            ["struct \(type) {", "class \(type) {", "enum \(type):"].contains { line.contains($0) }
        }
        guard let start else { return [] }
        return all[(start + 1)...].prefix { !$0.isEmpty && $0 != "}" }.map {
            String($0.drop { $0 == " " })
        }
    }

    func has(_ line: String) -> Bool { lines.contains(line) }
}

/// Expects that a schema is refused with exactly these problems.
func expectProblems(
    _ expected: [String], schema: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    do {
        let source = try Generated(schema: schema)
        Testing.Issue.record("no problem was found: \(source)", sourceLocation: sourceLocation)
    } catch let error as GenerationError {
        let found = error.problems.map { "\($0.pointer): \($0.text)" }
        #expect(found == expected, sourceLocation: sourceLocation)
    } catch {
        Testing.Issue.record(error, sourceLocation: sourceLocation)
    }
}
