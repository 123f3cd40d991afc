import EspalierStore

extension Demonstration {
    /// Step 3: a person gets another name, everywhere.
    mutating func rename(to person: Person) async throws {
        try narration.step(
            3, "Change one person",
            """
            One write of one model. No message is touched, and every message that shows the person shows the new name.
            """)
        try narration.code("cache.set(Person(id: \"\(person.id)\", name: \"\(person.name)\"))")
        try narration.blank()
        let before = try await read().messages
        let written = try cache.statistics().recordsWritten
        try await cache.set(person).committed
        let recordsWritten = try cache.statistics().recordsWritten - written
        let after = try await read().messages
        let showing = zip(before, after).filter { $0.0.shows(person.id) }

        var table = Table(columns: [
            .left("message"), .left("shows"), .left("before"), .left("after"),
        ])
        for (old, new) in Self.samples(of: showing, of: person.id) {
            table.append([
                Table.Cell(old.modelIdentifier ?? "", .name),
                Table.Cell(old.sender.id == person.id ? "as sender" : "among likes"),
                Table.Cell(old.name(of: person.id)), Table.Cell(new.name(of: person.id), .good),
            ])
        }
        try narration.show(table)
        try narration.blank()
        feed = feed.map { $0.updating(person) }
        try narration.claim("\(recordsWritten) record was written", recordsWritten == 1)
        try narration.claim(
            "\(showing.count.grouped) messages show the person: all of them with the new name",
            showing.count > 0 && showing.allSatisfy { $0.1.name(of: person.id) == person.name })
        try narration.claim("nothing else is different", after == feed)
    }

    /// Three messages that show the person, in different roles.
    private static func samples(of messages: [(Message, Message)], of person: String) -> [(
        Message, Message
    )] {
        let sent = messages.filter { $0.0.sender.id == person }
        let liked = messages.filter { $0.0.sender.id != person }
        return Array(sent.prefix(1) + liked.prefix(1) + sent.dropFirst().prefix(1))
    }
}

extension Message {
    /// The name under which this message shows a person.
    fileprivate func name(of person: String) -> String {
        ([sender] + likes).first { $0.id == person }?.name ?? ""
    }
}
