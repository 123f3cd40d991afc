public import EspalierConsistency

/// Combines several data providers: a change of some of them calls their delegates, and then the
/// delegate of the batch once.
///
/// ```swift
/// let batch = BatchDataProviderListener(
///     dataProviders: [person, messages], dataModelManager: .shared)
/// batch.delegate = self                   // redraws once
/// ```
///
/// The batch holds the providers strongly, and they hold it weakly. A provider belongs to one batch
/// at most: the last that it was given to. The batch belongs to the main actor.
@preconcurrency @MainActor
open class BatchDataProviderListener {
    /// The delegate that is called once for each change. Held weakly.
    open weak var delegate: (any BatchDataProviderListenerDelegate)?
    /// The consistency manager of the providers.
    public let consistencyManager: ConsistencyManager
    private let dataProviders: [any BatchListenable]
    private var isPausing = false
    private var changed: Set<ObjectIdentifier> = []
    private var context: Any?

    /// Creates a batch, and sets `batchListener` of each provider to it.
    ///
    /// - Parameters:
    ///   - dataProviders: The providers, which are held strongly.
    ///   - dataModelManager: The manager that the providers share.
    public init(
        dataProviders: [any ConsistencyManagerListener & BatchListenable],
        dataModelManager: DataModelManager
    ) {
        self.dataProviders = dataProviders
        consistencyManager = dataModelManager.consistencyManager
        for dataProvider in dataProviders { dataProvider.batchListener = self }
    }

    /// Whether the providers are paused. A paused provider is changed only by its own functions;
    /// when it is resumed, it shows everything that it missed in one change.
    open var isPaused: Bool {
        get { isPausing }
        set {
            isPausing = newValue
            let providers = dataProviders.compactMap { $0 as? any PausableProvider }
            if newValue { providers.forEach { $0.pause() } } else { resume(providers) }
        }
    }

    /// Resumes the providers in one round, so that the delegate is called once. If the consistency
    /// manager has recorded changes for some of them, the round waits for these; edits by siblings
    /// of a collection are shown at once.
    private func resume(_ providers: [any PausableProvider]) {
        let listeners = providers.compactMap(\.resumingListener)
        let immediate = listeners.isEmpty ? providers : providers.filter(\.resumesImmediately)
        DeliveryRound.run { for provider in immediate { provider.showMissed() } }
        guard !listeners.isEmpty else { return }
        consistencyManager.resume(listeners) { [weak self] in
            // The providers of a batch that was released meanwhile are resumed all the same.
            guard self?.isPausing != true else { return }
            for provider in providers { provider.showMissed() }
        }
    }

    /// Records the change of a provider. The delegate is called at the end of the round.
    func recordChange(of dataProvider: any BatchListenable, context: Any?) {
        changed.insert(ObjectIdentifier(dataProvider))
        self.context = context
        DeliveryRound.atEnd(for: self) { [self] in
            let providers = dataProviders.filter { changed.contains(ObjectIdentifier($0)) }
            let context = self.context
            changed = []
            self.context = nil
            guard !providers.isEmpty else { return }
            delegate?.batchDataProviderListener(
                self, hasUpdatedDataProviders: providers, context: context)
        }
    }
}

/// Is notified once of each update that changes data providers of a batch, after their own
/// delegates.
@preconcurrency @MainActor
public protocol BatchDataProviderListenerDelegate: AnyObject {
    /// Reports that an update has changed some providers of the batch. Called on the main actor.
    ///
    /// - Parameters:
    ///   - batchListener: The batch.
    ///   - dataProviders: The providers that changed, in the order of the batch, without those that
    ///     ignored the update because they show newer data.
    ///   - context: The context of the update.
    func batchDataProviderListener(
        _ batchListener: BatchDataProviderListener,
        hasUpdatedDataProviders dataProviders: [any ConsistencyManagerListener], context: Any?)
}

/// A data provider that can belong to a batch: a `DataProvider` or a `CollectionDataProvider`.
@preconcurrency @MainActor
public protocol BatchListenable: ConsistencyManagerListener {
    /// The batch that the provider belongs to. The batch sets it.
    var batchListener: BatchDataProviderListener? { get set }
}

/// A data provider that its batch can pause.
@MainActor
protocol PausableProvider: BatchListenable {
    func pause()
    /// The listener that the consistency manager resumes together with the others of a batch.
    var resumingListener: (any ConsistencyManagerListener)? { get }
    /// Whether the provider resumes without waiting for the others of a batch.
    var resumesImmediately: Bool { get }
    /// Completes resuming: shows the changes that the provider itself has kept back.
    func showMissed()
}
