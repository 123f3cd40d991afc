import Glibc

/// The command-line tool, which is built beside this program.
enum Tool {
    /// The environment variable with the path of another build of the tool.
    static let variable = "TORTURE_TOOL"

    static let program =
        getenv(variable).map { String(cString: $0) }
        ?? Child.program.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/espalier"

    static func run(_ arguments: [String], output: String, seconds: Double = 20) throws
        -> (ending: Child.Ending, line: String)
    {
        guard Files.exists(program) else {
            throw Mistake("\(program) is missing: build the product espalier of this package")
        }
        return try Child.run(arguments, program: program, output: output, seconds: seconds)
    }
}
