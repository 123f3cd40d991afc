extension Change {
    private typealias Node = HandWrittenNode
    private typealias Inline = HandWrittenInline

    /// Enums.
    static let enums: [Change] = [
        Change(
            "`String` to enum", OfString.Message(value: "calm"), OfMood.Message(value: .glad),
            byHand: "calm", HandWrittenV1.Mood.glad),
        Change(
            "`String` to enum, no case of it", OfString.Message(value: "wild"),
            OfMood.Message(value: .glad),
            byHand: "wild", HandWrittenV1.Mood.glad),
        Change(
            "case added", OfMood.Message(value: .calm), OfMoreMoods.Message(value: .wild),
            byHand: HandWrittenV1.Mood.calm, HandWrittenV2.Mood.wild),
        Change(
            "case added, in a list", OfMoodList.Message(value: [.calm]),
            OfMoreMoodList.Message(value: [.calm, .wild]),
            byHand: [HandWrittenV1.Mood.calm], [HandWrittenV2.Mood.calm, .wild]),
        Change(
            "case added, the old version has a case `unknown`", OfOpenMood.Message(value: .calm),
            OfMoreMoods.Message(value: .wild),
            byHand: HandWrittenOpen.Mood.calm, HandWrittenV2.Mood.wild),
        Change(
            "case with values added", OfContent.Message(value: .text("Meow")),
            OfMoreContent.Message(value: .video(link: "cat")),
            byHand: HandWrittenV1.Content.text("Meow"), HandWrittenV2.Content.video(link: "cat")),
        Change(
            "optional value added to a case", OfContent.Message(value: .image(link: "cat")),
            OfMoreContent.Message(value: .image(link: "cat", caption: "Meow")),
            byHand: HandWrittenV1.Content.image(link: "cat"),
            HandWrittenV2.Content.image(link: "cat", caption: "Meow")),
        Change(
            "value of a case: `String` to `Int`", OfContent.Message(value: .image(link: "cat")),
            OfNumberedContent.Message(value: .image(link: 7)),
            byHand: HandWrittenV1.Content.image(link: "cat"), HandWrittenV3.Content.image(link: 7)),
    ]

    /// Models below the model.
    static let children: [Change] = [
        Change(
            "node becomes an inline struct", OfNode.Message(value: .init()),
            OfInline.Message(value: .init(name: "Bo")),
            byHand: Node.Person(), Inline.Person(name: "Bo")),
        Change(
            "inline struct becomes a node", OfInline.Message(value: .init()),
            OfNode.Message(value: .init(name: "Bo")),
            byHand: Inline.Person(), Node.Person(name: "Bo")),
        Change(
            "inline struct becomes a node, read by a `nestedContainer`", OfNested.Message(),
            OfNode.Message(value: .init(name: "Bo"))),
        Change(
            "dictionary to inline struct", OfDictionary.Message(value: ["name": "Ada"]),
            OfName.Message(value: .init()), byHand: ["name": "Ada"], Inline.Name()),
        Change(
            "reference made optional", OfNode.Message(value: .init()),
            OfOptionalNode.Message(value: .init(name: "Bo")),
            byHand: Node.Person(), Node.Person?.some(Node.Person(name: "Bo"))),
        Change(
            "reference made optional, nil", OfNode.Message(value: .init()),
            OfOptionalNode.Message(value: nil),
            byHand: Node.Person(), Node.Person?.none),
        Change(
            "one node to several", OfNode.Message(value: .init()),
            OfNodes.Message(value: [.init(name: "Bo")]),
            byHand: Node.Person(), [Node.Person(name: "Bo")]),
        Change(
            "several nodes to one", OfNodes.Message(value: [.init()]),
            OfNode.Message(value: .init(name: "Bo")),
            byHand: [Node.Person()], Node.Person(name: "Bo")),
        Change(
            "node of another type", OfNode.Message(value: .init()),
            OfCompany.Message(value: .init()),
            byHand: Node.Person(), Node.Company()),
        Change(
            "node to its identifier", OfNode.Message(value: .init()),
            OfString.Message(value: "Person:1"),
            byHand: Node.Person(), "Person:1"),
    ]

    /// All rows, in the order of the document.
    static let all = fields + values + enums + children
}
