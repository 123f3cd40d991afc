#if CommandLine
import EspalierRecords
import EspalierTestSupport

@testable import EspalierCLI

/// Statuses like given ones with other identifiers, names, links and text, as on many pages of a
/// search.
struct VariedStatuses {
    private var random: SeededGenerator
    private var numbers: [String: String] = [:]

    private static let words = """
        the of and cache tree swift page feed time people way day man thing woman life child \
        world school state family student \
        group country problem hand part place case week company system program question work \
        night point home water room mother \
        area money story fact month lot right study book eye job word business issue side kind \
        head house service friend father
        """.split(separator: " ")

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func vary(_ statuses: [JSONValue]) -> [JSONValue] {
        statuses.map { status in
            numbers = [:]
            return vary(status, named: "")
        }
    }

    private mutating func vary(_ value: JSONValue, named name: String) -> JSONValue {
        switch value {
        case .object(let members):
            return .object(
                members.map { JSONMember(name: $0.name, value: vary($0.value, named: $0.name)) })
        case .array(let elements): return .array(elements.map { vary($0, named: name) })
        case .string(let text): return .string(vary(text, named: name))
        case .number where name == "id" || name.hasSuffix("_id"):
            return .number(.int(Int64(number(for: JSONWriter().string(from: value))) ?? 0))
        case .number where name.hasSuffix("_count"):
            return .number(.int(Int64.random(in: 0..<5_000, using: &random)))
        default: return value
        }
    }

    private mutating func vary(_ text: String, named name: String) -> String {
        switch name {
        case "text", "description":
            (0..<max(1, text.count / 6)).map { _ in word() }.joined(separator: " ")
        case "name", "screen_name": word() + String(Int.random(in: 0..<10_000, using: &random))
        case "url", "expanded_url", "media_url":
            "http://t.co/" + String(UInt64.random(in: .min ... .max, using: &random), radix: 36)
        default: name == "id_str" || name.hasSuffix("_id_str") ? number(for: text) : text
        }
    }

    private mutating func word() -> String {
        String(Self.words.randomElement(using: &random) ?? "word")
    }

    /// The same word for equal numbers of one status.
    private mutating func number(for text: String) -> String {
        if let known = numbers[text] { return known }
        let first = String(Int.random(in: 1...8, using: &random))
        let digits =
            first
            + text.dropFirst().map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
        numbers[text] = digits
        return digits
    }
}
#endif
