public import EspalierConsistency
public import EspalierModels
public import EspalierProviders

// RocketData under its own module name: source that imports it compiles unchanged, in language mode
// 5. The protocols of models and the values below are those of Espalier. Managers and providers are
// classes of this module, with RocketData's signatures; each has an Espalier object behind it.

/// A model that is replaced only as a whole. See `EspalierModels.SimpleModel`.
public typealias SimpleModel = EspalierModels.SimpleModel

/// A model whose children are kept consistent too. See `EspalierModels.Model`.
public typealias Model = EspalierModels.Model

/// The change of a collection, for a view that shows it.
public typealias CollectionChange = EspalierProviders.CollectionChange

/// One step of a collection's change.
public typealias CollectionChangeInformation = EspalierProviders.CollectionChangeInformation

/// The position of a change in the order of all changes of this process.
public typealias ChangeTime = EspalierConsistency.ChangeTime

/// Reports mistakes in the use of this module.
///
/// A mistake stops a debug build, and is ignored in release. A delegate replaces both.
open class Log {
    /// The log that this module reports to.
    public static let sharedInstance = Log()

    /// The delegate that is called in place of a failed assertion. Held weakly. Set it once, when
    /// the app starts.
    open weak var delegate: (any LogDelegate)?

    /// Creates a log. This module uses `sharedInstance` alone.
    public init() {}

    /// Reports a mistake if `condition` is false.
    ///
    /// - Parameters:
    ///   - condition: What is true of correct uses.
    ///   - logText: The message.
    ///   - file: The file of the caller.
    ///   - function: The function of the caller.
    ///   - line: The line of the caller.
    open func assert(
        _ condition: @autoclosure () -> Bool, _ logText: @autoclosure () -> String,
        file: StaticString = #file, function: StaticString = #function, line: UInt = #line
    ) {
        guard !condition() else { return }
        if let delegate {
            delegate.assertionFailure(logText(), file: file, function: function, line: line)
        } else {
            Swift.assertionFailure(logText(), file: file, line: line)
        }
    }
}

/// Receives the reports of a `Log`.
public protocol LogDelegate: AnyObject {
    /// Reports a mistake in the use of this module. Called on the thread of the mistake.
    ///
    /// - Parameters:
    ///   - message: What is wrong.
    ///   - file: The file of the check.
    ///   - function: The function of the check.
    ///   - line: The line of the check.
    func assertionFailure(
        _ message: String, file: StaticString, function: StaticString, line: UInt)
}
