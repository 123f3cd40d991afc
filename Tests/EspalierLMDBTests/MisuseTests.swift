import Testing

/// Programmer errors stop the process, before C is called.
@Suite("misuse")
struct MisuseTests {
    /// Optimised builds trap without a message.
    func expectMessage(_ text: String, of result: ExitTest.Result?) {
        #if DEBUG
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains(text))
        #endif
    }

    @Test("a write transaction that ends on another thread traps")
    func otherThread() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            try Misuse.otherThread()
        }
        expectMessage("on the thread that began it", of: result)
    }

    @Test("a second write on the same thread traps instead of waiting for itself")
    func twice() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            try Misuse.twice()
        }
        expectMessage("is writing already", of: result)
    }

    @Test("a keyspace of another environment traps")
    func otherEnvironment() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            try Misuse.otherEnvironment()
        }
        expectMessage("another environment", of: result)
    }

    @Test("a keyspace that was not opened traps")
    func unknownKeyspace() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            try Misuse.unknownKeyspace()
        }
        expectMessage("no keyspace missing", of: result)
    }

    @Test("writing while a snapshot lends a value traps")
    func borrowed() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            try Misuse.borrowed()
        }
        expectMessage("while one of its values was borrowed", of: result)
    }

    @Test("the same without the mistake exits normally, so the traps above mean something")
    func control() async {
        await #expect(processExitsWith: .success) { try Misuse.control() }
    }
}
