#if Macros
import Espalier
import Testing

@Normalized(identifier: \.name) enum Delivery {
    case post(address: String)
    case courier(String, stops: Int)
    var name: String { "delivery" }
}

@Suite("Enums with an identifier")
struct EnumNodeTests {
    @Test(
        "The record of an enum holds one case, whatever policy writes the next one",
        arguments: [WritePolicy.replace, .merge])
    func caseChanges(policy: WritePolicy) async throws {
        try await withCache { cache in
            let (post, courier) = (
                Delivery.post(address: "Here"), Delivery.courier("Ann", stops: 2)
            )
            try await cache.set(post, policy: policy).committed
            #expect(await cache.read(Delivery.self, "delivery") == post)
            try await cache.set(courier, policy: policy).committed
            #expect(await cache.read(Delivery.self, "delivery") == courier)
        }
    }
}
#endif
