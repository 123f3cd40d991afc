public import EspalierConsistency
import EspalierProviders

/// Combines several data providers: a change of some of them calls their delegates, and then the
/// delegate of the batch once.
///
/// The batch holds the providers strongly, and they hold it weakly. It belongs to the main thread.
@preconcurrency @MainActor
open class BatchDataProviderListener {
    /// The delegate that is called once for each change. Held weakly.
    open weak var delegate: (any BatchDataProviderListenerDelegate)?
    /// The consistency manager of the providers.
    public let consistencyManager: ConsistencyManager
    private let dataProviders: [any ConsistencyManagerListener & BatchListenable]
    private let backend: EspalierProviders.BatchDataProviderListener
    private let bridge = BatchBridge()

    /// Creates a batch, and sets `batchListener` of each provider to it.
    ///
    /// - Parameters:
    ///   - dataProviders: Instances of `DataProvider` and `CollectionDataProvider`, which are held
    ///     strongly. Other listeners are not combined; the batch only calls
    ///     `batchDataProviderUnpausedDataProvider` of them.
    ///   - dataModelManager: The manager that the providers share.
    public init(
        dataProviders: [any ConsistencyManagerListener & BatchListenable],
        dataModelManager: DataModelManager
    ) {
        self.dataProviders = dataProviders
        consistencyManager = dataModelManager.consistencyManager
        backend = EspalierProviders.BatchDataProviderListener(
            dataProviders: dataProviders.compactMap { ($0 as? any BackedProvider)?.batchable },
            dataModelManager: dataModelManager.backend)
        bridge.owner = self
        backend.delegate = bridge
        for dataProvider in dataProviders {
            Log.sharedInstance.assert(
                dataProvider.batchListener == nil,
                "A data provider was given to two batch listeners. It belongs to the second.")
            dataProvider.batchListener = self
        }
    }

    /// Whether the providers are paused. A paused provider is changed only by its own functions;
    /// when it is resumed, it shows everything that it missed in one change.
    open var isPaused: Bool {
        get { backend.isPaused }
        set {
            if !newValue {
                for provider in dataProviders { provider.batchDataProviderUnpausedDataProvider() }
            }
            backend.isPaused = newValue
        }
    }

    fileprivate func notify(_ changed: [any ConsistencyManagerListener], context: Any?) {
        let providers = dataProviders.filter { provider in
            guard let backed = provider as? any BackedProvider else { return false }
            return changed.contains { $0 === backed.batchable }
                && provider.syncedWithContext(context)
        }
        guard !providers.isEmpty else { return }
        delegate?.batchDataProviderListener(
            self, hasUpdatedDataProviders: providers, context: context)
    }
}

/// Is notified once of each update that changes data providers of a batch, after their own
/// delegates.
@preconcurrency @MainActor
public protocol BatchDataProviderListenerDelegate: AnyObject {
    /// Reports that an update has changed some providers of the batch. Called on the main thread.
    ///
    /// - Parameters:
    ///   - batchListener: The batch.
    ///   - dataProviders: The providers that changed, in the order of the batch.
    ///   - context: The context of the update.
    func batchDataProviderListener(
        _ batchListener: BatchDataProviderListener,
        hasUpdatedDataProviders dataProviders: [any ConsistencyManagerListener], context: Any?)
}

/// A data provider that can belong to a batch.
@preconcurrency @MainActor
public protocol BatchListenable: AnyObject {
    /// The batch that the provider belongs to. The batch sets it.
    var batchListener: BatchDataProviderListener? { get set }
    /// Returns whether the provider shows the change with `context`. The batch does not name it
    /// otherwise.
    func syncedWithContext(_ context: Any?) -> Bool
    /// Called when the batch is resumed, before the providers show what they missed.
    func batchDataProviderUnpausedDataProvider()
}

/// A provider of this module, which has an Espalier provider behind it.
@MainActor
protocol BackedProvider: AnyObject {
    var batchable: any ConsistencyManagerListener & EspalierProviders.BatchListenable { get }
}

/// Forwards the calls of an Espalier batch.
@MainActor
private final class BatchBridge: EspalierProviders.BatchDataProviderListenerDelegate {
    weak var owner: BatchDataProviderListener?

    func batchDataProviderListener(
        _ batchListener: EspalierProviders.BatchDataProviderListener,
        hasUpdatedDataProviders dataProviders: [any ConsistencyManagerListener], context: Any?
    ) {
        owner?.notify(dataProviders, context: UncheckedContext.value(of: context))
    }
}
