import ArgumentParser
import Foundation

/// `espalier completions`: the script that makes a shell complete verbs, options and paths.
struct CompletionsVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Prints the completion script of a shell.",
        discussion: """
            bash: mkdir -p ~/.local/share/bash-completion/completions
                  espalier completions bash > ~/.local/share/bash-completion/completions/espalier
            zsh:  espalier completions zsh > a directory of $fpath, as the file _espalier
            fish: espalier completions fish > ~/.config/fish/completions/espalier.fish
            """)

    @Argument(help: "The shell; that of $SHELL without.")
    var shell: Shell?

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    func run() throws {
        let own = ProcessInfo.processInfo.environment["SHELL"].map {
            URL(fileURLWithPath: $0).lastPathComponent
        }
        guard let name = (shell ?? own.flatMap(Shell.init))?.rawValue,
            let shell = CompletionShell(rawValue: name)
        else {
            throw ValidationError("Name a shell: bash, zsh or fish.")
        }
        try Console.print(Espalier.completionScript(for: shell))
    }
}
