#if Macros
import Espalier

/// Shows one person and her latest message.
@MainActor
final class ProfileScreen: DataProviderDelegate {
    private let profile: DataProvider<Profile>

    init(_ manager: DataModelManager) {
        profile = DataProvider(dataModelManager: manager)
        profile.delegate = self
    }

    func open(_ identifier: String) async throws {
        _ = try await profile.fetch(identifier)
        draw("opened")
    }

    func serverAnswered(_ new: Profile) {
        profile.setData(new)
        draw("from the server")
    }

    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {
        draw(context as? String ?? "updated")
    }

    private func draw(_ reason: String) {
        guard let shown = profile.data else { return print("profile (\(reason)): nobody") }
        let latest = shown.latest.map { "\"\($0.text)\"" } ?? "no message"
        print("profile (\(reason)): \(shown.person.name), \(latest)")
    }
}
#endif
