import Espalier

/// RocketData's algorithm, straightforward and as fast as possible: it keeps listeners by
/// identifier, and maps the whole tree of every listener that shows the changed model. It goes to
/// the main actor and back as the contender does with which it is compared.
actor WholeTrees {
    private final class Weak: @unchecked Sendable {
        // `@unchecked`: it is written once, and only the main actor calls its closures.
        private(set) weak var listener: (any ConsistencyManagerListener)?
        init(_ listener: any ConsistencyManagerListener) { self.listener = listener }
    }

    private var listeners: [String: [Weak]] = [:]

    func add(_ listener: any ConsistencyManagerListener & Sendable) async {
        guard let model = await listener.currentModel() else { return }
        add(Weak(listener), model)
    }

    private func add(_ weak: Weak, _ model: any ConsistencyManagerModel) {
        if let identifier = model.modelIdentifier {
            let known = listeners[identifier] ?? []
            if !known.contains(where: { $0.listener === weak.listener }) {
                listeners[identifier] = known + [weak]
            }
        }
        model.forEach { add(weak, $0) }
    }

    func update(_ model: any ConsistencyManagerModel) async {
        var posted: [String: any ConsistencyManagerModel] = [:]
        var affected: [Weak] = []
        collect(model, &posted, &affected)
        let bases = await MainActor.run { affected.map { $0.listener?.currentModel() } }
        var results: [(Weak, any ConsistencyManagerModel, ModelUpdates)] = []
        for (weak, base) in zip(affected, bases) {
            guard let base else { continue }
            var updates = ModelUpdates()
            guard let new = updated(base, posted, &updates), !updates.changedModelIds.isEmpty else {
                continue
            }
            results.append((weak, new, updates))
        }
        let deliveries = results
        await MainActor.run {
            for (weak, new, updates) in deliveries {
                weak.listener?.modelUpdated(new, updates: updates, context: nil)
            }
        }
    }

    private func collect(
        _ model: any ConsistencyManagerModel, _ posted: inout [String: any ConsistencyManagerModel],
        _ affected: inout [Weak]
    ) {
        if let identifier = model.modelIdentifier {
            if posted[identifier] == nil { posted[identifier] = model }
            for weak in listeners[identifier] ?? [] where !affected.contains(where: { $0 === weak })
            {
                affected.append(weak)
            }
        }
        model.forEach { collect($0, &posted, &affected) }
    }

    private func updated(
        _ model: any ConsistencyManagerModel, _ posted: [String: any ConsistencyManagerModel],
        _ updates: inout ModelUpdates
    ) -> (any ConsistencyManagerModel)? {
        if let identifier = model.modelIdentifier, let replacement = posted[identifier] {
            guard !replacement.isEqualToModel(model) else { return model }
            updates.changedModelIds.insert(identifier)
            return replacement
        }
        var below = ModelUpdates()
        let mapped = model.map { updated($0, posted, &below) }
        if let identifier = model.modelIdentifier, !below.changedModelIds.isEmpty {
            below.changedModelIds.insert(identifier)
        }
        updates.changedModelIds.formUnion(below.changedModelIds)
        return mapped
    }
}
