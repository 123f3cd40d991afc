/// The path of a miss while it is being walked: `Feed:1.messages[3].sender`.
struct PlaceName {
    private(set) var text: String

    init(record identifier: String) { text = identifier }

    func field(_ name: String) -> PlaceName { appending("." + name) }

    func element(_ index: Int) -> PlaceName { appending("[\(index)]") }

    private func appending(_ component: String) -> PlaceName {
        var name = self
        name.text += component
        return name
    }
}
