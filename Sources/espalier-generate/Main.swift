import EspalierGeneration
import Foundation

/// The program that the plugin `EspalierGenerate` runs: `espalier generate --schema` alone, without
/// the packages that the whole tool needs.
@main
struct Main {
    static let usage = "usage: espalier-generate --schema FILE --output FILE [--options FILE]"

    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            // Builds show lines of this form as their errors.
            for line in "\(error)".split(separator: "\n") {
                FileHandle.standardError.write(Data("error: \(line)\n".utf8))
            }
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) throws {
        var values: [String: URL] = [:]
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw WrongArguments() }
            values[name] = URL(fileURLWithPath: value)
        }
        guard let schema = values.removeValue(forKey: "--schema"),
            let output = values.removeValue(forKey: "--output")
        else { throw WrongArguments() }
        var options = GenerationOptions()
        if let file = values.removeValue(forKey: "--options") {
            options = try GenerationOptions(
                parsing: Data(contentsOf: file), named: file.lastPathComponent)
        }
        guard values.isEmpty else { throw WrongArguments() }
        let source = try Generator(options).source(
            fromSchema: Data(contentsOf: schema), named: schema.lastPathComponent)
        try Data(source.utf8).write(to: output)
    }
}

/// The arguments are not those of `usage`.
struct WrongArguments: Error, CustomStringConvertible {
    var description: String { Main.usage }
}
