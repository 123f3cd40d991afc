// Follows data providers with asynchronous sequences.

// snippet.hide
#if Macros
import Espalier
import Foundation

@Normalized struct Person { let id: Int, name: String }

let cache = try NormalizedCache(directory: NSTemporaryDirectory() + "following-providers")
let manager = DataModelManager(cache: cache)
// snippet.show
let people = CollectionDataProvider<Person>(dataModelManager: manager)
let changes = people.changes
people.setData([Person(id: 1, name: "Ada"), Person(id: 2, name: "Ben")], cacheKey: "people")
manager.updateModel(Person(id: 2, name: "Benjamin"), context: "push")

for await change in changes.prefix(2) {
    print(change.origin, change.data.map(\.name))
    // own ["Ada", "Ben"]
    // update ["Ada", "Benjamin"]
}

// The shown models from now on. A slow subscriber gets the latest ones only.
for await names in people.values.prefix(1) { print(names.count) }  // 2

// For views that apply differences.
let before = people.data
people.remove(at: 0)
let change = CollectionChange.changes([.delete(index: 0)])
print(before.applying(change.difference(from: before, to: people.data))! == people.data)  // true
// snippet.hide
cache.close()
try? FileManager.default.removeItem(atPath: NSTemporaryDirectory() + "following-providers")
#endif
