import EspalierProviders
public import Foundation

/// The domain of the errors that RocketData itself reports. Errors of a cache are passed on as they
/// are.
public let rocketDataErrorDomain = "com.rocketData"

/// The codes of the errors in `rocketDataErrorDomain`.
enum RocketDataError: Int {
    /// The type that a data provider asks for is not a subclass of the type that the cache parses.
    case wrongModelClassParsed = 1
    /// There is no collection under the key of a static edit.
    case notFound
    /// The index of a static edit is outside the collection.
    case outOfRange
    /// The cache has released a completion without calling it.
    case noAnswer
    /// The cache does not tell of its changes, and cannot merge.
    case notShared
    /// The model has no identifier, so it cannot be stored.
    case noIdentifier

    private var message: String {
        switch self {
        case .wrongModelClassParsed:
            "The data provider asks for a type that is not the parsed class or a subclass of it."
        case .notFound: DataProviderError.notFound.description
        case .outOfRange: DataProviderError.outOfRange.description
        case .noAnswer: DataProviderError.noAnswer.description
        case .notShared: DataProviderError.notShared.description
        case .noIdentifier: DataProviderError.noIdentifier.description
        }
    }

    var error: NSError {
        NSError(
            domain: rocketDataErrorDomain, code: rawValue,
            userInfo: ["developerMessage": message])
    }

    /// Returns an error of this domain for an error of a data provider, and any other error as the
    /// `NSError` that it is or bridges to.
    static func converted(_ error: any Error) -> NSError {
        switch error as? DataProviderError {
        case .notFound: notFound.error
        case .outOfRange: outOfRange.error
        case .noAnswer: noAnswer.error
        case .notShared: notShared.error
        case .noIdentifier: noIdentifier.error
        case nil: error as NSError
        }
    }
}

/// Functions that turn what a cache has parsed into the generic type that a data provider asks for.
///
/// A cache gets a request for some type `T`, but can only create subclasses of a class of the app:
///
/// ```swift
/// let (model, error): (T?, NSError?) = ParsingHelpers.parseModel { (type: BaseModel.Type) in
///     type.init(data: data)       // creates a `T`
/// }
/// ```
///
/// The type `U` must be a class: for a protocol, cast `T.self` yourself. All functions may be
/// called on any thread.
open class ParsingHelpers {
    /// Returns the model that `parseBlock` creates.
    ///
    /// - Parameter parseBlock: Receives `T` as a subclass of `U`.
    /// - Returns: The model and no error; or an error in `rocketDataErrorDomain` if `T` is not a
    ///   subclass of `U`. The model is `nil` if it is not a `T`.
    public static func parseModel<T, U>(_ parseBlock: (U.Type) -> U?) -> (T?, NSError?) {
        parseModel { (type: U.Type) -> (U?, NSError?) in (parseBlock(type), nil) }
    }

    /// Returns the model that `parseBlock` creates, or its error.
    ///
    /// - Parameter parseBlock: Receives `T` as a subclass of `U`.
    /// - Returns: As for the other function; with the error of `parseBlock`, if there is one.
    public static func parseModel<T, U>(
        _ parseBlock: (U.Type) -> (U?, NSError?)
    ) -> (T?, NSError?) {
        guard let type = T.self as? U.Type else {
            return (nil, RocketDataError.wrongModelClassParsed.error)
        }
        let (model, error) = parseBlock(type)
        return (model as? T, error)
    }

    /// Returns the models that `parseBlock` creates.
    ///
    /// - Parameter parseBlock: Receives `T` as a subclass of `U`.
    /// - Returns: The models that are a `T`, and no error; or an error in `rocketDataErrorDomain`
    ///   if `T` is not a subclass of `U`.
    public static func parseCollection<T, U>(_ parseBlock: (U.Type) -> [U]?) -> ([T]?, NSError?) {
        parseCollection { (type: U.Type) -> ([U]?, NSError?) in (parseBlock(type), nil) }
    }

    /// Returns the models that `parseBlock` creates, or its error.
    ///
    /// - Parameter parseBlock: Receives `T` as a subclass of `U`.
    /// - Returns: As for the other function; with the error of `parseBlock`, if there is one.
    public static func parseCollection<T, U>(
        _ parseBlock: (U.Type) -> ([U]?, NSError?)
    ) -> ([T]?, NSError?) {
        guard let type = T.self as? U.Type else {
            return (nil, RocketDataError.wrongModelClassParsed.error)
        }
        let (models, error) = parseBlock(type)
        return (models?.compactMap { $0 as? T }, error)
    }
}
