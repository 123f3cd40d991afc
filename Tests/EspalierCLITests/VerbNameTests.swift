import Testing

@testable import EspalierCLI

@Suite("The first word is a verb, or said to be none")
struct VerbNameTests {
    @Test(
        arguments: [
            ("improt", "import"), ("imports", "import"), ("lst", "ls"), ("l", "ls"),
            ("exprot", "export"),
            ("stat", "stats"),
            ("frobnicate", nil), ("", nil),
        ] as [(String, String?)])
    func closest(word: String, verb: String?) {
        #expect(VerbName.closest(to: word) == verb)
    }

    @Test("options and verbs pass")
    func known() throws {
        for word in VerbName.all + ["-h", "--help", "--version", nil] { try VerbName.check(word) }
        #expect(VerbName.all.count > 15)
    }

    @Test("a word that is none is the one thing complained of")
    func unknown() throws {
        let tool = try CommandLineTool()
        #expect(
            try tool.fail(64, "improt", "c", "f", "--id-key", "id").errors.contains(
                "Did you mean import?"))
        try tool.fail(64, "frob")
        try tool.fail(64, "")
    }

    @Test("what is not found says where else the name stands")
    func advice() throws {
        let tool = try CommandLineTool()
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "k", input: #"[{"id":1}]"#)
        for verb in ["get", "refs"] {
            #expect(try tool.fail(2, verb, "c", "k").errors.contains("--collection"))
            #expect(
                try tool.fail(2, verb, "c", "--collection", "root:1").errors.contains(
                    "a node of that name"))
            #expect(try !tool.fail(2, verb, "c", "nothing").errors.contains("there is"))
        }
    }

    @Test("no cache is made among other files")
    func otherFiles() throws {
        let tool = try CommandLineTool()
        #expect(
            try tool.fail(1, "import", ".", "-", "--id-key", "id", input: "[]").errors.contains(
                "other files"))
        #expect(!tool.folder.contains("guard"))
    }
}
