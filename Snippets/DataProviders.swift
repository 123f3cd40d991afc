// Two data providers over one cache: what one sets, the other shows.

// snippet.hide
#if Macros
// snippet.show
import Espalier
import Foundation

@Normalized struct Person { let id: Int, name: String }
@Normalized struct Message { let id: Int, text: String, sender: Person }

// snippet.hide
let directory = NSTemporaryDirectory() + "data-providers"
// snippet.show
let cache = try NormalizedCache(directory: directory)
let manager = DataModelManager(cache: cache)

let inbox = CollectionDataProvider<Message>(dataModelManager: manager)
let profile = DataProvider<Person>(dataModelManager: manager)
let ada = Person(id: 1, name: "Ada")
inbox.setData([Message(id: 34, text: "Meow", sender: ada)], cacheKey: "inbox")
profile.setData(ada.copy { $0.name = "Ada Lovelace" })
await manager.flush()
print(inbox[0].sender.name)  // Ada Lovelace

// Another screen with the same key shows the same list, and edits it for both.
let other = CollectionDataProvider<Message>(dataModelManager: manager)
_ = try await other.fetch("inbox")
other.append([Message(id: 35, text: "Purr", sender: ada)])
print(inbox.map(\.text))  // ["Meow", "Purr"]

// What is deleted leaves every list.
manager.deleteModel(inbox[0])
await manager.flush()
print(other.count)  // 1
// snippet.hide
cache.close()
try? FileManager.default.removeItem(atPath: directory)
#endif
