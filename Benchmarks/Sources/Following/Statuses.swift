import Espalier

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
}

struct Entities: Codable, Sendable {
    let hashtags: [Hashtag]
    let urls: [Link]
    let userMentions: [Mention]

    struct Hashtag: Codable, Sendable {
        let text: String
        let indices: [Int]
    }

    struct Link: Codable, Sendable {
        let url: String
        let expandedURL: String
        let indices: [Int]

        enum CodingKeys: String, CodingKey {
            case url, indices
            case expandedURL = "expanded_url"
        }
    }

    struct Mention: Codable, Sendable {
        let id: Int
        let name: String
        let screenName: String
        let indices: [Int]

        enum CodingKeys: String, CodingKey {
            case id, name, indices
            case screenName = "screen_name"
        }
    }

    enum CodingKeys: String, CodingKey {
        case hashtags, urls
        case userMentions = "user_mentions"
    }
}
