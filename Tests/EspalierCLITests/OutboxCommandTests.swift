#if CommandLine
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The command `outbox`")
struct OutboxCommandTests {
    private struct Refusal: Error {}

    private struct User: Codable, NormalizedModel {
        var id: Int
        var modelIdentifier: String? { "User:\(id)" }
    }

    private let tool: CommandLineTool

    init() async throws {
        tool = try CommandLineTool()
        let cache = try NormalizedCache(directory: tool.folder.url.path + "/c")
        defer { cache.close() }
        let messages = cache.outbox("messages", of: [String: String].self)
        try await messages.add(["text": "refused"], key: "a", id: "1") {
            $0.set(User(id: 1))
        }.committed
        try await messages.drain(judging: { _ in .giveUp }) { _, _ in throw Refusal() }
        try await messages.add(["text": "waits"], key: "a", id: "2").committed
        try await cache.outbox("likes", of: Int.self).add(7, id: "2").committed
    }

    private func rows(_ arguments: String...) throws -> [String] {
        let outcome = try tool.run(["outbox", "c", "--format", "csv"] + arguments)
        #expect(outcome.code == 0)
        return outcome.text.split(whereSeparator: \.isNewline).dropFirst().map { row in
            let cells = row.split(separator: ",", omittingEmptySubsequences: false)
            return cells[0...4].joined(separator: " ")
        }
    }

    @Test("It lists operations in their order, those of all outboxes or of one")
    func list() throws {
        #expect(
            try rows() == ["messages 1 a dead 1", "messages 2 a waiting 0", "likes 2  waiting 0"])
        #expect(try rows("--name", "likes") == ["likes 2  waiting 0"])
        #expect(try rows("--name", "none").isEmpty)
        let json = try tool.succeed("outbox", "c", "--name", "messages", "--format", "json").json()
        guard case .array(let operations) = json, let first = operations.first else {
            Issue.record("no array")
            return
        }
        #expect(first["operation"] == #"{"text":"refused"}"#)
        #expect(first["failure"] == "Refusal()" && first["change"] == true)
    }

    @Test("It drops operations and lets dead letters wait again")
    func changes() throws {
        try tool.succeed("outbox", "c", "--retry", "1")
        try tool.succeed("get", "c", "User:1")
        try tool.fail(1, "outbox", "c", "--drop", "2")
        try tool.succeed("outbox", "c", "--drop", "2", "--drop", "1", "--name", "messages")
        try tool.fail(2, "get", "c", "User:1")
        #expect(try rows() == ["likes 2  waiting 0"])
        try tool.fail(64, "outbox", "c", "--drop", "2", "--retry", "2")
        try tool.fail(2, "outbox", "c", "--drop", "2", "--drop", "9")
        #expect(try rows() == ["likes 2  waiting 0"])
    }
}
#endif
