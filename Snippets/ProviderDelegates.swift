// A screen that shows a person and a list, and is told what others change.

#if Macros
import Espalier
import Foundation

@Normalized struct Person { let id: Int, name: String }

// snippet.delegate
@MainActor final class Screen: DataProviderDelegate, CollectionDataProviderDelegate {
    let profile: DataProvider<Person>
    let friends: CollectionDataProvider<Person>
    var text = ""

    init(_ manager: DataModelManager) {
        profile = DataProvider(dataModelManager: manager)
        friends = CollectionDataProvider(dataModelManager: manager)
        profile.delegate = self
        friends.delegate = self
    }

    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {
        text = profile.data?.name ?? ""
    }

    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?
    ) {
        text = "\(friends.count) friends"
    }
}
// snippet.end

let directory = NSTemporaryDirectory() + "provider-delegates"
let cache = try NormalizedCache(directory: directory)
let manager = DataModelManager(cache: cache)
let screen = Screen(manager)
let editor = DataProvider<Person>(dataModelManager: manager)
screen.profile.setData(Person(id: 1, name: "Ada"))
editor.setData(Person(id: 1, name: "Ada Lovelace"))
await manager.flush()
print(screen.text)  // Ada Lovelace
screen.friends.setData([Person(id: 1, name: "Ada Lovelace")], cacheKey: "friends")
manager.deleteModel(Person(id: 1, name: "Ada Lovelace"))
await manager.flush()
print(screen.text)  // 0 friends
cache.close()
try? FileManager.default.removeItem(atPath: directory)
#endif
