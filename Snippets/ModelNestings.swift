// Children in every nesting: containers, enums, existentials, generic models and classes.

#if Macros
import Espalier
import Foundation

@Normalized struct Person {
    let id: Int
    let name: String
}

// snippet.containers
@Normalized struct Photo {
    let id: Int
    let title: String
}

@Normalized struct Article {
    let id: String
    let author: Person  // deleting the author deletes the article
    let editor: Person?  // nil after the editor is deleted
    let readers: Set<Person>
    let credits: [String: Person]
    let rows: [[Photo?]]
}
// snippet.end

// snippet.enums
@Normalized indirect enum Block {
    case text(String)
    case card(title: String, Person)  // deleting the person deletes the card
    case album([Photo], cover: Photo?)
    case quoted(Block)
    case rule
}

enum Mood: String, FieldValue { case calm, curious }  // raw values need no macro
// snippet.end

// snippet.existentials
protocol Attachable: Model {
    var caption: String { get }
}

extension Photo: Attachable { var caption: String { title } }
extension Person: Attachable { var caption: String { name } }

@Normalized struct Note {
    let id: Int
    let body: [Block]
    let mood: Mood
    let attachments: [any Attachable]
}
// snippet.end

// snippet.generic
@Normalized struct Page<Item: NormalizedModel & Model> {  // Page<Photo>:1
    let id: Int
    let items: [Item]
}

@Normalized final class Album {
    let id: Int
    let photos: [Photo]
    let parent: Album?
}
// snippet.end

func example(in directory: String) async throws {
    let cache = try NormalizedCache(directory: directory)
    let (ada, grace) = (Person(id: 1, name: "Ada"), Person(id: 2, name: "Grace"))
    let (loom, moth) = (Photo(id: 1, title: "A loom"), Photo(id: 2, title: "A moth"))

    // snippet.delete
    cache.set(
        Article(
            id: "a", author: ada, editor: grace, readers: [ada, grace], credits: ["idea": grace],
            rows: [[loom, nil]]))
    cache.delete("Person:2")
    let article = await cache.read(Article.self, "Article:a")
    let credits = article?.credits ?? [:]
    print(article?.editor?.name ?? "no editor", article?.readers.count ?? 0, credits)
    // no editor 1 [:]
    // snippet.end

    // snippet.attached
    let body: [Block] = [
        .text("Look:"), .card(title: "By", ada), .quoted(.album([loom, moth], cover: nil)), .rule,
    ]
    cache.set(Note(id: 7, body: body, mood: .curious, attachments: [moth, ada]))
    let note = await cache.read(Note.self, "Note:7")
    print(note?.body == body, note?.attachments.map(\.caption) ?? [])  // true ["A moth", "Ada"]
    // snippet.end

    // snippet.paged
    let page = Page(id: 1, items: [loom, moth])
    cache.set(page)
    print(await cache.read(Page<Photo>.self, "Page<Photo>:1") == page)  // true

    cache.set(Album(id: 1, photos: page.items, parent: Album(id: 2, photos: [], parent: nil)))
    print(await cache.read(Album.self, "Album:1")?.parent?.id ?? 0)  // 2
    // snippet.end
}

let directory = NSTemporaryDirectory() + "espalier-model-nestings"
try? FileManager.default.removeItem(atPath: directory)
try await example(in: directory)
#endif
