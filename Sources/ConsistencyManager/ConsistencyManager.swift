public import EspalierConsistency
public import EspalierModels
public import Foundation

// LinkedIn's ConsistencyManager under its own module name: source that imports it compiles
// unchanged, in language mode 5. The types are those of `EspalierConsistency`, so an app may import
// both modules, and moves on file by file.

/// Keeps immutable model trees consistent. See `EspalierConsistency.ConsistencyManager`.
public typealias ConsistencyManager = EspalierConsistency.ConsistencyManager

/// A model that a consistency manager keeps up to date.
public typealias ConsistencyManagerModel = EspalierModels.ConsistencyManagerModel

/// An object that shows a model which is to be kept consistent.
public typealias ConsistencyManagerListener = EspalierConsistency.ConsistencyManagerListener

/// An object that is notified of every change that passes through a consistency manager.
public typealias ConsistencyManagerUpdatesListener =
    EspalierConsistency.ConsistencyManagerUpdatesListener

/// Is notified of mistakes in models and of each replacement.
public typealias ConsistencyManagerDelegate = EspalierConsistency.ConsistencyManagerDelegate

/// A mistake in the app's models, as reported to a `ConsistencyManagerDelegate`.
public typealias CriticalError = EspalierConsistency.CriticalError

/// The changes of one update in one listener's tree, by identifier.
public typealias ModelUpdates = EspalierConsistency.ModelUpdates

/// The change of the model with one identifier.
public typealias ModelChange = EspalierConsistency.ModelChange

/// Combines several models: to post them in one update, or to listen to all of them.
public typealias BatchUpdateModel = EspalierConsistency.BatchUpdateModel

/// Combines several listeners.
public typealias BatchListener = EspalierConsistency.BatchListener

/// Is notified once of each update that changes listeners of a batch.
public typealias BatchListenerDelegate = EspalierConsistency.BatchListenerDelegate

extension EspalierConsistency.ConsistencyManager {
    /// A manager for an app that needs no more than one. A `DataModelManager` has a manager of its
    /// own, which is another one.
    public static let sharedInstance = EspalierConsistency.ConsistencyManager()

    /// The notification that `cleanMemory` begins its work. Posted on any thread, with the manager
    /// as its object, from the first use of the name on.
    public static let kCleanMemoryAsynchronousWorkStarted = cleaningNotifications.started

    /// The notification that `cleanMemory` has finished its work. Posted on any thread, with the
    /// manager as its object, from the first use of the name on.
    public static let kCleanMemoryAsynchronousWorkFinished = cleaningNotifications.finished

    /// The names. Initializing them begins to post the notifications: no code can observe a
    /// notification without its name.
    private static let cleaningNotifications = {
        let prefix = "com.linkedin.consistencyManager.kCleanMemoryAsynchronousWork"
        let names = (
            started: Notification.Name(prefix + "Started"),
            finished: Notification.Name(prefix + "Finished")
        )
        observeCleaning { manager, isFinished in
            NotificationCenter.default.post(
                name: isFinished ? names.finished : names.started, object: manager)
        }
        return names
    }()
}
