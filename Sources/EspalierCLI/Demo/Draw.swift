/// Draws names, texts and people by a seed.
struct Draw {
    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(state: seed) }

    mutating func number(below limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

    mutating func oneIn(_ count: Int) -> Bool { number(below: count) == 0 }

    mutating func any<Element>(_ elements: [Element]) -> Element {
        elements[number(below: elements.count)]
    }

    /// One of the first more often than one of the last.
    mutating func popular<Element>(_ elements: [Element]) -> Element {
        elements[min(number(below: elements.count), number(below: elements.count))]
    }

    mutating func likes(_ people: [Person]) -> [Person] {
        var likes: [Person] = []
        for _ in 0..<number(below: 6) {
            let person = popular(people)
            if !likes.contains(person) { likes.append(person) }
        }
        return likes
    }

    mutating func name() -> String {
        switch number(below: 8) {
        case 0: any(Self.chineseFamilies) + any(Self.chineseGiven)
        case 1: "\(any(Self.arabicGiven)) \(any(Self.arabicFamilies))"
        case 2: "\(any(Self.latinGiven)) \(any(Self.emoji))"
        default: "\(any(Self.latinGiven)) \(any(Self.latinFamilies))"
        }
    }

    mutating func text() -> String {
        let text = "\(any(Self.phrases)) \(any(Self.phrases))"
        return oneIn(3) ? "\(text) \(any(Self.emoji))" : text
    }

    mutating func title() -> String { "\(any(Self.things)) \(any(Self.emoji)).jpg" }

    private static let latinGiven = [
        "Ada", "Björn", "Chloé", "Dmitri", "Elif", "Fatou", "Grace", "Hana", "Ivo", "José", "Kenji",
        "Lucía", "Zoë",
    ]
    private static let latinFamilies = [
        "Adeyemi", "Berg", "Costa", "Dvořák", "Eriksen", "Fischer", "García", "Hughes", "Ionescu",
        "Jansen", "Kaya",
    ]
    private static let chineseFamilies = ["王", "李", "张", "陈", "刘", "赵", "周"]
    private static let chineseGiven = ["伟", "芳", "娜", "静", "磊", "雪梅", "建国"]
    private static let arabicGiven = ["عمر", "سارة", "مريم", "يوسف", "نور"]
    private static let arabicFamilies = ["خليل", "نصر", "حداد", "منصور"]
    private static let emoji = ["🌻", "🚀", "🦊", "🎧", "🍀", "🐙", "🌅", "🎲"]
    private static let phrases = [
        "Who is in town?", "Look at this.", "Ça marche !", "今天天气很好。", "صباح الخير", "Ship it!",
        "See you at nine.",
        "Später mehr.", "また明日。", "Nothing to add.", "¡Qué bien!", "The branches grow flat.",
        "Спасибо!",
    ]
    private static let things = [
        "sunrise", "garden", "whiteboard", "cat", "train", "lunch", "wall", "日出", "pear tree",
    ]
}
