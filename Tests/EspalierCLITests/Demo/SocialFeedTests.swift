#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The demo's feed")
struct SocialFeedTests {
    private let feed = SocialFeed(seed: 1, messages: 2_000)

    @Test("The demo's feed is the same for the same seed, and another for another one")
    func seeded() {
        #expect(feed == SocialFeed(seed: 1, messages: 2_000))
        #expect(feed != SocialFeed(seed: 2, messages: 2_000))
        #expect(
            SocialFeed(seed: 2, messages: 2_000).messages.prefix(3).map(\.text)
                == feed.messages.prefix(3).map(\.text))
    }

    @Test("An identifier in the demo's feed means one model wherever it stands")
    func consistent() {
        var people: [String: Person] = [:]
        var attachments: [String: EspalierCLI.Attachment] = [:]
        for message in feed.messages {
            for person in [message.sender] + message.likes {
                #expect(people.updateValue(person, forKey: person.id) ?? person == person)
            }
            if let attachment = message.attachment {
                #expect(
                    attachments.updateValue(attachment, forKey: attachment.id) ?? attachment
                        == attachment)
            }
            #expect(Set(message.likes.map(\.id)).count == message.likes.count)
        }
        #expect(feed.messages.map(\.id) == (1...2_000).map(String.init))
        #expect(feed.nodeCount == feed.messages.count + people.count + attachments.count)
        #expect(feed.modelCount > 2 * feed.nodeCount)
    }

    @Test("The demo's feed has names in several scripts, with wide characters and emoji")
    func scripts() {
        let names = feed.messages.map(\.sender.name)
        #expect(names.contains { $0.unicodeScalars.contains { ("a"..."z").contains($0) } })
        #expect(
            names.contains { $0.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) } })
        #expect(
            names.contains { $0.unicodeScalars.contains { (0x0621...0x064A).contains($0.value) } })
        #expect(
            names.contains { $0.unicodeScalars.contains(where: \.properties.isEmojiPresentation) })
    }

    @Test(
        "The smallest feed of the demo has what every step needs, for any seed", arguments: 0..<50)
    func smallest(seed: UInt64) {
        let messages = SocialFeed(seed: seed, messages: SocialFeed.leastMessages).messages
        #expect(messages.count == SocialFeed.leastMessages)
        #expect(messages[0].sender == SocialFeed.hero)
        #expect(messages[0].attachment != nil)
        #expect(messages.count { $0.shows(SocialFeed.hero.id) } >= 3)
        #expect(messages.contains { $0.sender == SocialFeed.guest })
        #expect(
            messages.contains {
                $0.isLiked(by: SocialFeed.guest.id) && $0.sender != SocialFeed.guest
            })
    }

    @Test("Pages of the demo's feed are its messages in order, the last page with the rest")
    func pages() {
        let pages = feed.pages(of: 300)
        #expect(pages.map(\.count) == [300, 300, 300, 300, 300, 300, 200])
        #expect(pages.flatMap { $0 } == feed.messages)
    }

    @Test("Messages of the demo change in plain Swift as the cache changes them")
    func changes() {
        let message = feed.messages[0]
        let renamed = message.updating(SocialFeed.heroRenamed)
        #expect(renamed.sender == SocialFeed.heroRenamed)
        #expect(renamed.likes == message.likes)
        #expect(
            feed.messages[1].updating(SocialFeed.heroRenamed).likes.contains(SocialFeed.heroRenamed)
        )
        #expect(message.removing(attachment: "1").attachment == nil)
        #expect(message.removing(attachment: "2") == message)
        #expect(message.removing(person: message.sender.id) == nil)
        #expect(message.removing(person: "2")?.likes.map(\.id) == ["3"])
    }

    @Test("The demo prints the declaration that it uses")
    func declaration() throws {
        let file = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "Sources/EspalierCLI/Demo/SocialFeed.swift")
        let source = try String(contentsOf: file, encoding: .utf8).replacing(
            ", Equatable", with: "")
        #expect(source.contains(Message.declaration))
    }
}
#endif
