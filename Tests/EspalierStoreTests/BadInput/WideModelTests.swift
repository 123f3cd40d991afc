import EspalierModels
import EspalierRecords
import EspalierStore
import Testing

@Suite("Models with many or long field names")
struct WideModelTests {
    /// A model with any fields.
    struct Wide: NormalizedModel, Equatable {
        let names: [String]
        var modelIdentifier: String? { "wide" }

        init(names: [String]) { self.names = names }

        init(from decoder: inout RecordDecoder) throws {
            names = try decoder.fieldNames()
            for (number, name) in names.enumerated() {
                guard try decoder.decode(Int.self, forKey: name) == number else { throw Missing() }
            }
        }

        func encode(to encoder: inout RecordEncoder) throws {
            for (number, name) in names.enumerated() { try encoder.encode(number, forKey: name) }
        }
    }

    @Test(
        "Records with very many or very long field names contain their shape themselves",
        arguments: [1, 180, 190, 5_000])
    func wide(count: Int) throws {
        try withCache { cache in
            let models = [
                Wide(names: (0..<count).map { "some_member_name_\($0)" }),
                Wide(names: [String(repeating: "n", count: count * 30)]),
            ]
            for model in models {
                try cache.set(model).wait()
                #expect(cache.read(Wide.self, "wide") == model)
            }
        }
    }
}
