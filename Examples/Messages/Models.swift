#if Macros
import Espalier

@Normalized struct Person {
    let id: Int
    let name: String
}

@Normalized struct Message {
    let id: Int
    let text: String
    let sender: Person
}

@Normalized struct Profile {
    let id: Int
    let person: Person
    let latest: Message?
}
#endif
