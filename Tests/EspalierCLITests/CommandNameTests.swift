#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("The first word of a command line is checked")
struct CommandNameTests {
    @Test(
        "A misspelled command finds the command with the closest name",
        arguments: [
            ("improt", "import"), ("imports", "import"), ("lst", "ls"), ("l", "ls"),
            ("exprot", "export"),
            ("stat", "stats"),
            ("frobnicate", nil), ("", nil),
        ] as [(String, String?)])
    func closest(word: String, command: String?) {
        #expect(CommandName.closest(to: word) == command)
    }

    @Test("Options and commands pass the check of the first word")
    func known() throws {
        for word in CommandName.all + ["-h", "--help", "--version", nil] {
            try CommandName.check(word)
        }
        #expect(CommandName.all.count > 15)
    }

    @Test("An unknown command is the only thing that the message complains about")
    func unknown() throws {
        let tool = try CommandLineTool()
        #expect(
            try tool.fail(64, "improt", "c", "f", "--id-key", "id").errors.contains(
                "Did you mean import?"))
        try tool.fail(64, "frob")
        try tool.fail(64, "")
    }

    @Test("A missing name is reported with the other name space that has it")
    func advice() throws {
        let tool = try CommandLineTool()
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "k", input: #"[{"id":1}]"#)
        for command in ["get", "refs"] {
            #expect(try tool.fail(2, command, "c", "k").errors.contains("--collection"))
            #expect(
                try tool.fail(2, command, "c", "--collection", "root:1").errors.contains(
                    "a node has that name"))
            #expect(try !tool.fail(2, command, "c", "nothing").errors.contains("has that name"))
        }
    }

    @Test("No cache is created among other files")
    func otherFiles() throws {
        let tool = try CommandLineTool()
        #expect(
            try tool.fail(1, "import", ".", "-", "--id-key", "id", input: "[]").errors.contains(
                "other files"))
        #expect(!tool.folder.contains("guard"))
    }
}
#endif
