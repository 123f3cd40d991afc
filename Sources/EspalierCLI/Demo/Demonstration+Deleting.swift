import EspalierRecords
import EspalierStore

extension Demonstration {
    /// Step 4, first half: what is optional becomes nil.
    mutating func deleteAttachment() async throws {
        try narration.step(
            4, "Delete",
            """
            What was deleted is gone from every tree. An optional becomes nil and an element goes; what can't be \
            without it, as a message without its sender, is gone too.
            """)
        let before = try await read().messages
        guard let attachment = before.first?.attachment, let identifier = attachment.modelIdentifier
        else {
            throw CommandFailure("the demo's first message lacks its attachment")
        }
        try narration.code("cache.delete(\"\(identifier)\")")
        try narration.blank()
        try await cache.delete(identifier).committed
        let after = try await read().messages
        let changed = try await message("Message:1")

        var comparison = Comparison()
        comparison.count("messages in the feed", before, after)
        comparison.count("with \(identifier)", before, after) { $0.attachment?.id == attachment.id }
        comparison.add(
            "Message:1, its attachment", attachment.title, changed.attachment?.title ?? "nil")
        try narration.show(comparison.table)
        try narration.blank()
        feed = feed.map { $0.removing(attachment: attachment.id) }
        try narration.claim(
            "every message is still there, those with the attachment without it",
            after == feed && changed == after.first)
        try narration.blank()
    }

    /// Step 4, second half: what can't be without the deleted goes too.
    mutating func delete(_ person: Person) async throws {
        let identifier = person.modelIdentifier ?? ""
        try narration.code("cache.delete(\"\(identifier)\")  // \(person.name)")
        try narration.blank()
        let before = try await read().messages
        try await cache.delete(identifier).committed
        let after = try await read().messages

        var comparison = Comparison()
        comparison.count("messages in the feed", before, after)
        comparison.count("sent by \(identifier)", before, after) { $0.sender.id == person.id }
        comparison.count("liked by \(identifier)", before, after) { $0.isLiked(by: person.id) }
        try narration.show(comparison.table)
        try narration.blank()
        let expected = feed.compactMap { $0.removing(person: person.id) }
        let sent = feed.count - expected.count
        feed = expected
        try narration.claim(
            "\(sent.grouped) messages went with their sender; all others are there, without that person's likes",
            after == feed)
        try await explainMisses(before.first { $0.sender.id == person.id }, identifier)
    }

    private func explainMisses(_ message: Message?, _ person: String) async throws {
        guard let message = message?.modelIdentifier else {
            throw CommandFailure("the demo's feed has no message of \(person)")
        }
        let ofMessage = await cache.readOutcome(Message.self, message).reason
        let ofPerson = await cache.readOutcome(Person.self, person).reason
        try narration.claim(
            "reading \(message) is a miss: \(Self.shown(ofMessage))", ofMessage == .deleted)
        try narration.claim(
            "reading \(person) is a miss: \(Self.shown(ofPerson))", ofPerson == .notFound)
    }

    private static func shown(_ reason: MissReason?) -> String {
        reason.map { ".\($0.name)" } ?? "no miss"
    }
}
