public import EspalierConsistency

/// Several data providers as one: whatever touches some of them calls their delegates, and then
/// this one's once.
///
/// ```swift
/// let batch = BatchDataProviderListener(dataProviders: [person, messages], dataModelManager: .shared)
/// batch.delegate = self                   // redraws once
/// ```
///
/// Belongs to the main actor. Holds the providers; they hold it weakly. A provider is part of one
/// batch at most: the last it was given to.
@preconcurrency @MainActor
open class BatchDataProviderListener {
    open weak var delegate: (any BatchDataProviderListenerDelegate)?
    public let consistencyManager: ConsistencyManager
    private let dataProviders: [any BatchListenable]
    private var isPausing = false
    private var touched: Set<ObjectIdentifier> = []
    private var context: Any?

    public init(
        dataProviders: [any ConsistencyManagerListener & BatchListenable],
        dataModelManager: DataModelManager
    ) {
        self.dataProviders = dataProviders
        consistencyManager = dataModelManager.consistencyManager
        for dataProvider in dataProviders { dataProvider.batchListener = self }
    }

    /// While true, none of the providers changes but by its own functions.
    open var isPaused: Bool {
        get { isPausing }
        set {
            isPausing = newValue
            let providers = dataProviders.compactMap { $0 as? any PausableProvider }
            if newValue { providers.forEach { $0.pause() } } else { resume(providers) }
        }
    }

    /// In one go, that the delegate is called once: where all of it can be told at once, at once;
    /// otherwise with what the consistency manager has gathered. Only what siblings have edited
    /// never waits.
    private func resume(_ providers: [any PausableProvider]) {
        let listeners = providers.compactMap(\.resumingListener)
        let atOnce = listeners.isEmpty ? providers : providers.filter(\.resumesAtOnce)
        DeliveryRound.run { for provider in atOnce { provider.showMissed() } }
        guard !listeners.isEmpty else { return }
        consistencyManager.resume(listeners) { [weak self] in
            guard let self, !isPausing else { return }
            for provider in providers { provider.showMissed() }
        }
    }

    /// A provider has changed: the delegate hears of it at the end of the round.
    func note(_ dataProvider: any BatchListenable, context: Any?) {
        touched.insert(ObjectIdentifier(dataProvider))
        self.context = context
        DeliveryRound.atEnd(for: self) { [self] in
            let changed = dataProviders.filter { touched.contains(ObjectIdentifier($0)) }
            let context = self.context
            touched = []
            self.context = nil
            guard !changed.isEmpty else { return }
            delegate?.batchDataProviderListener(
                self, hasUpdatedDataProviders: changed, context: context)
        }
    }
}

/// Told once for all data providers that one update touched, after their own delegates. On the main
/// actor.
@preconcurrency @MainActor
public protocol BatchDataProviderListenerDelegate: AnyObject {
    /// - Parameter dataProviders: those that changed, in the order of the batch; not those that
    ///   show something newer.
    func batchDataProviderListener(
        _ batchListener: BatchDataProviderListener,
        hasUpdatedDataProviders dataProviders: [any ConsistencyManagerListener], context: Any?)
}

/// A data provider that can be part of a batch. `DataProvider` and `CollectionDataProvider` are.
@preconcurrency @MainActor
public protocol BatchListenable: ConsistencyManagerListener {
    /// Set by the batch.
    var batchListener: BatchDataProviderListener? { get set }
}

/// A provider as its batch pauses it.
@MainActor
protocol PausableProvider: BatchListenable {
    func pause()
    /// Who resumes with the consistency manager, in one go with the others of a batch.
    var resumingListener: (any ConsistencyManagerListener)? { get }
    /// Whether it resumes without waiting for the others of a batch.
    var resumesAtOnce: Bool { get }
    /// The rest of resuming: shows what the provider itself has kept back.
    func showMissed()
}
