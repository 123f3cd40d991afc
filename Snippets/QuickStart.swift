// Stores a message and the person who sent it, updates the person alone, and reads the message
// again.

// snippet.hide
#if Macros
// snippet.show
import Espalier
import Foundation

@Normalized struct Person { let id: Int, name: String }
@Normalized struct Message { let id: Int, text: String, sender: Person }

let cache = try NormalizedCache(directory: NSTemporaryDirectory() + "quick-start")
cache.set(Message(id: 34, text: "Meow", sender: Person(id: 1, name: "Ada")))
cache.set(Person(id: 1, name: "Ada Lovelace"))
print(cache.read(Message.self, "Message:34")?.sender.name ?? "a miss")  // Ada Lovelace
cache.close()
// snippet.hide
#endif
