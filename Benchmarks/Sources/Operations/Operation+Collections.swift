import Espalier
import Feeds

extension Operation {
    static let collections = [
        // Appends several pages, because a page costs more the fuller the last segment is.
        Operation("append-pages", tolerance: 0.08) {
            let stage = try Stage()
            try stage.cache.setCollection(people(seed: 100, 10_000), forKey: "list").wait()
            return { number in
                let pages = (0..<5).map { people(seed: UInt64(number * 5 + $0 + 1_000), 20) }
                return {
                    for page in pages { try stage.cache.append(page, toCollection: "list").wait() }
                }
            }
        },
        Operation("read-collection") {
            let stage = try Stage()
            try stage.cache.setCollection(people(seed: 100, 1_000), forKey: "list").wait()
            return { _ in
                {
                    let read = stage.cache.collection(
                        of: Person.self, forKey: "list", consistency: .snapshot)
                    guard read?.count == 1_000 else { throw OperationError.miss("list") }
                }
            }
        },
    ]

    static let opening = [
        Operation("open-and-close") {
            let stage = try Stage(feeds: 10)
            stage.cache.close()
            return { _ in
                {
                    let configuration = Stage.configuration(.none)
                    try NormalizedCache(directory: stage.directory, configuration: configuration)
                        .close()
                }
            }
        }
    ]

    private static func people(seed: UInt64, _ count: Int) -> [Person] {
        var sample = Sample(seed: seed)
        return (0..<count).map { _ in sample.person() }
    }
}
