import Foundation
import PackagePlugin

/// Generates models from the JSON Schemas of a target, at each build.
///
/// Each file of the target whose name ends in `.schema.json` gives one Swift file, which is
/// compiled with the target. It is generated again when the schema or `espalier-generate.json`,
/// the options of the target, have changed.
@main
struct EspalierGenerate: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let tool = try context.tool(named: "espalier-generate").url
        let files = target.sourceFiles.map(\.url).sorted { $0.path < $1.path }
        let options = files.filter { $0.lastPathComponent == "espalier-generate.json" }
        return files.filter { $0.lastPathComponent.hasSuffix(".schema.json") }.map { schema in
            // The name without `.json`: `catalog.schema.swift`.
            let name = schema.deletingPathExtension().lastPathComponent + ".swift"
            let output = context.pluginWorkDirectoryURL.appending(path: name)
            return .buildCommand(
                displayName: "Generating models from \(schema.lastPathComponent)",
                executable: tool,
                arguments: ["--schema", schema.path, "--output", output.path]
                    + options.prefix(1).flatMap { ["--options", $0.path] },
                inputFiles: [schema] + options.prefix(1), outputFiles: [output])
        }
    }
}
