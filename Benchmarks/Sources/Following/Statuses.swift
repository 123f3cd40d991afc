import Espalier

// The models have their fields twice: for JSON by Codable, and for records in the functions that
// @Normalized writes.

/// A status, as the search API of Twitter described it: of the fields of the document, those that a
/// screen shows.
final class Status: NormalizedModel, Codable, Sendable {
    let id: Int
    let text: String
    let createdAt: String
    let source: String
    let user: User
    let retweetedStatus: Status?
    let entities: Entities
    let retweetCount: Int
    let favoriteCount: Int
    let favorited: Bool
    let retweeted: Bool
    let lang: String
    let inReplyToStatusId: Int?
    let inReplyToScreenName: String?

    var modelIdentifier: String? { "Status:\(id)" }

    enum CodingKeys: String, CodingKey {
        case id, text, source, user, entities, favorited, retweeted, lang
        case createdAt = "created_at"
        case retweetedStatus = "retweeted_status"
        case retweetCount = "retweet_count"
        case favoriteCount = "favorite_count"
        case inReplyToStatusId = "in_reply_to_status_id"
        case inReplyToScreenName = "in_reply_to_screen_name"
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(createdAt, forKey: "created_at")
        try encoder.encode(source, forKey: "source")
        try encoder.encode(user, forKey: "user")
        try encoder.encode(retweetedStatus, forKey: "retweeted_status")
        try encoder.encode(entities, forKey: "entities")
        try encoder.encode(retweetCount, forKey: "retweet_count")
        try encoder.encode(favoriteCount, forKey: "favorite_count")
        try encoder.encode(favorited, forKey: "favorited")
        try encoder.encode(retweeted, forKey: "retweeted")
        try encoder.encode(lang, forKey: "lang")
        try encoder.encode(inReplyToStatusId, forKey: "in_reply_to_status_id")
        try encoder.encode(inReplyToScreenName, forKey: "in_reply_to_screen_name")
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        createdAt = try decoder.decode(forKey: "created_at")
        source = try decoder.decode(forKey: "source")
        user = try decoder.decode(forKey: "user")
        retweetedStatus = try decoder.decode(forKey: "retweeted_status")
        entities = try decoder.decode(forKey: "entities")
        retweetCount = try decoder.decode(forKey: "retweet_count")
        favoriteCount = try decoder.decode(forKey: "favorite_count")
        favorited = try decoder.decode(forKey: "favorited")
        retweeted = try decoder.decode(forKey: "retweeted")
        lang = try decoder.decode(forKey: "lang")
        inReplyToStatusId = try decoder.decode(forKey: "in_reply_to_status_id")
        inReplyToScreenName = try decoder.decode(forKey: "in_reply_to_screen_name")
    }
}

struct User: NormalizedModel, Codable {
    let id: Int
    let name: String
    let screenName: String
    let location: String
    let description: String
    let url: String?
    let protected: Bool
    let followersCount: Int
    let friendsCount: Int
    let listedCount: Int
    let createdAt: String
    let favouritesCount: Int
    let verified: Bool
    let statusesCount: Int
    let lang: String
    let profileImageURL: String
    let profileBannerURL: String?
    let following: Bool

    var modelIdentifier: String? { "User:\(id)" }

    enum CodingKeys: String, CodingKey {
        case id, name, location, description, url, protected, verified, lang, following
        case screenName = "screen_name"
        case followersCount = "followers_count"
        case friendsCount = "friends_count"
        case listedCount = "listed_count"
        case createdAt = "created_at"
        case favouritesCount = "favourites_count"
        case statusesCount = "statuses_count"
        case profileImageURL = "profile_image_url_https"
        case profileBannerURL = "profile_banner_url"
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        try encoder.encode(screenName, forKey: "screen_name")
        try encoder.encode(location, forKey: "location")
        try encoder.encode(description, forKey: "description")
        try encoder.encode(url, forKey: "url")
        try encoder.encode(protected, forKey: "protected")
        try encoder.encode(followersCount, forKey: "followers_count")
        try encoder.encode(friendsCount, forKey: "friends_count")
        try encoder.encode(listedCount, forKey: "listed_count")
        try encoder.encode(createdAt, forKey: "created_at")
        try encoder.encode(favouritesCount, forKey: "favourites_count")
        try encoder.encode(verified, forKey: "verified")
        try encoder.encode(statusesCount, forKey: "statuses_count")
        try encoder.encode(lang, forKey: "lang")
        try encoder.encode(profileImageURL, forKey: "profile_image_url_https")
        try encoder.encode(profileBannerURL, forKey: "profile_banner_url")
        try encoder.encode(following, forKey: "following")
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
        screenName = try decoder.decode(forKey: "screen_name")
        location = try decoder.decode(forKey: "location")
        description = try decoder.decode(forKey: "description")
        url = try decoder.decode(forKey: "url")
        protected = try decoder.decode(forKey: "protected")
        followersCount = try decoder.decode(forKey: "followers_count")
        friendsCount = try decoder.decode(forKey: "friends_count")
        listedCount = try decoder.decode(forKey: "listed_count")
        createdAt = try decoder.decode(forKey: "created_at")
        favouritesCount = try decoder.decode(forKey: "favourites_count")
        verified = try decoder.decode(forKey: "verified")
        statusesCount = try decoder.decode(forKey: "statuses_count")
        lang = try decoder.decode(forKey: "lang")
        profileImageURL = try decoder.decode(forKey: "profile_image_url_https")
        profileBannerURL = try decoder.decode(forKey: "profile_banner_url")
        following = try decoder.decode(forKey: "following")
    }
}

struct Entities: NormalizedModel, Codable {
    let hashtags: [Hashtag]
    let urls: [Link]
    let userMentions: [Mention]

    var modelIdentifier: String? { nil }

    enum CodingKeys: String, CodingKey {
        case hashtags, urls
        case userMentions = "user_mentions"
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(hashtags, forKey: "hashtags")
        try encoder.encode(urls, forKey: "urls")
        try encoder.encode(userMentions, forKey: "user_mentions")
    }

    init(from decoder: inout RecordDecoder) throws {
        hashtags = try decoder.decode(forKey: "hashtags")
        urls = try decoder.decode(forKey: "urls")
        userMentions = try decoder.decode(forKey: "user_mentions")
    }
}

struct Hashtag: NormalizedModel, Codable {
    let text: String
    let indices: [Int]

    var modelIdentifier: String? { nil }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(text, forKey: "text")
        try encoder.encode(indices, forKey: "indices")
    }

    init(from decoder: inout RecordDecoder) throws {
        text = try decoder.decode(forKey: "text")
        indices = try decoder.decode(forKey: "indices")
    }
}

struct Link: NormalizedModel, Codable {
    let url: String
    let expandedURL: String
    let indices: [Int]

    var modelIdentifier: String? { nil }

    enum CodingKeys: String, CodingKey {
        case url, indices
        case expandedURL = "expanded_url"
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(url, forKey: "url")
        try encoder.encode(expandedURL, forKey: "expanded_url")
        try encoder.encode(indices, forKey: "indices")
    }

    init(from decoder: inout RecordDecoder) throws {
        url = try decoder.decode(forKey: "url")
        expandedURL = try decoder.decode(forKey: "expanded_url")
        indices = try decoder.decode(forKey: "indices")
    }
}

struct Mention: NormalizedModel, Codable {
    let id: Int
    let name: String
    let screenName: String
    let indices: [Int]

    var modelIdentifier: String? { nil }

    enum CodingKeys: String, CodingKey {
        case id, name, indices
        case screenName = "screen_name"
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        try encoder.encode(screenName, forKey: "screen_name")
        try encoder.encode(indices, forKey: "indices")
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
        screenName = try decoder.decode(forKey: "screen_name")
        indices = try decoder.decode(forKey: "indices")
    }
}
