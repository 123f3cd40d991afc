// From a server's JSON to the screen: pages of GitHub's events, users, and a list that follows.
//
// With the path of `github_events.json` as its argument, it stores that page, too.

#if Macros
import Espalier
import Foundation

// snippet.rows
/// An event, as lists have it.
@Normalized(.codable) struct Event {
    let id: String
    let type: Kind
    @Stored("created_at") let createdAt: Date
    let actor: UserRow
    let repo: RepositoryRow

    /// A kind that this version of the app does not know yet is no error.
    struct Kind: RawRepresentable, Codable, Hashable, FieldValue {
        let rawValue: String
        static let push = Kind(rawValue: "PushEvent")
    }
}

/// What a list knows of a user.
@Normalized(.codable, type: "User") struct UserRow {
    let id: Int
    let login: String
    @Stored("avatar_url") let avatar: URL?
}

@Normalized(.codable, type: "Repository") struct RepositoryRow {
    let id: Int
    let name: String
}
// snippet.page
/// What the page of a user knows: the same record as another type.
@Normalized(.codable, type: "User", policy: .merge) struct UserPage {
    let id: Int
    let login: String
    let company: Field<String>  // absent: not sent; null: has none
    @Stored("public_repos", default: 0) let repositories: Int
    @NotStored var isExpanded = false  // neither stored nor sent
}
// snippet.state
/// What the screen has to remember beside the list. Without an `id`, it is no node.
@Normalized struct PageState {
    let next: Int?
    let fetchedAt: Date
}
// snippet.end

let firstPage = Data(
    """
    [{"id": "1652857722", "type": "PushEvent", "created_at": "2013-01-10T07:58:30Z",
      "actor": {"id": 138052, "login": "jathanism", "gravatar_id": "a7ce"},
      "repo": {"id": 6357414, "name": "jathanism/trigger"}, "public": true},
     {"id": "1652857721", "type": "DanceEvent", "created_at": "2013-01-10T07:58:30Z",
      "actor": {"id": 3236, "login": "rtlong", "avatar_url": "https://example.org/3236.png"},
      "repo": {"id": 7533, "name": "rtlong/digiusb.rb"}}]
    """.utf8)

let secondPage = Data(
    """
    [{"id": "1652857721", "type": "DanceEvent", "created_at": "2013-01-10T07:58:30Z",
      "actor": {"id": 3236, "login": "rtlong"}, "repo": {"id": 7533, "name": "rtlong/digiusb.rb"}},
     {"id": "1652857715", "type": "WatchEvent", "created_at": "2013-01-10T07:58:29Z",
      "actor": {"id": 138052, "login": "jathanism"}, "repo": {"id": 6357414, "name": "t/t"}}]
    """.utf8)

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)

    // snippet.decode
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let events = try decoder.decode([Event].self, from: firstPage)
    // snippet.first
    try await cache.write { batch in
        batch.setCollection(events, forKey: "events")
        batch.setModel(PageState(next: 2, fetchedAt: .now), forKey: "events")
    }.committed
    // snippet.list
    let list = cache.updates(ofCollection: "events", of: Event.self)
    for await events in list {
        print(events?.map(\.actor.login) ?? [])  // ["jathanism", "rtlong"]
        break
    }
    // snippet.next
    let more = try decoder.decode([Event].self, from: secondPage)
    try await cache.write { batch in
        batch.appendNew(more, toCollection: "events")  // skips those that the list has
        batch.setModel(PageState(next: nil, fetchedAt: .now), forKey: "events")
    }.committed
    print(await cache.collectionCount(forKey: "events") ?? 0)  // 3
    let visible = await cache.collection(of: Event.self, forKey: "events", range: 1..<3)
    print(visible?.map(\.type.rawValue) ?? [])  // ["DanceEvent", "WatchEvent"]
    let state = await cache.modelOutcome(PageState.self, forKey: "events").value
    print(state?.next ?? 0)  // 0
    // snippet.detail
    let body = Data(#"{"id": 138052, "login": "jathan", "company": null, "public_repos": 40}"#.utf8)
    cache.set(try decoder.decode(UserPage.self, from: body))
    let user = await cache.read(UserPage.self, id: 138_052)
    print(user?.company == .null, user?.repositories ?? -1)  // true 40
    let first = await cache.collection(of: Event.self, forKey: "events", range: 0..<1)
    print(first?.first?.actor.login ?? "a miss")  // jathan
    // snippet.answer
    let answer = await cache.json(
        ofCollection: "events", range: 0..<1, leavingOut: ["actor", "repo.id", "created_at"])
    print(answer.map { String(decoding: $0, as: UTF8.self) } ?? "a miss")
    // [{"id":"1652857722","type":"PushEvent","repo":{"name":"t/t"}}]
    // snippet.end

    for path in CommandLine.arguments.dropFirst() {
        let page = try decoder.decode(
            [Event].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        try await cache.setCollection(page, forKey: "file").committed
        var users = 0
        for try await user in cache.all(UserRow.self) where !user.login.isEmpty { users += 1 }
        let count = await cache.collectionCount(forKey: "file")
        print("\(count ?? 0) events of \(users) users")
    }
    cache.close()
}

let directory = NSTemporaryDirectory() + "espalier-server-to-screen"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
#endif
