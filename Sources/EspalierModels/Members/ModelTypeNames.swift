import EspalierRecords
import Synchronization

/// The types of models by the names they are stored under, and the other way round, remembered by
/// process: to find a type by its name takes the run time about 60 us.
///
/// The name is the mangled one, without prefix: `5MyApp6PersonV`. It has the module, the enclosing
/// types and what generic types are generic over in it, so that a type that was moved or renamed is
/// not found. Private and local types have a name in which an address of this process stands, which
/// finds nothing: these have none that could be stored.
struct ModelTypeNames: ~Copyable {
    static let ofProcess = ModelTypeNames()

    private struct Known {
        /// Nil for types that can't be found by a name.
        var names: [ObjectIdentifier: String?] = [:]
        var types: [String: any IdentifiedModel.Type] = [:]
    }

    /// A name comes from a file, and a generic type has any number of them. More than these are
    /// resolved each time.
    private static let limit = 4_096
    private let known = Mutex(Known())

    /// The name of the type; nil if it has none that a read could find it by.
    func name(of type: any IdentifiedModel.Type) -> String? {
        let key = ObjectIdentifier(type)
        if let name = known.withLock({ $0.names[key] }) { return name }
        let name = _mangledTypeName(type).flatMap { name in
            _typeByName(name).map { $0 == type } == true ? name : nil
        }
        known.withLock { known in
            if known.names.count < Self.limit { known.names[key] = .some(name) }
        }
        return name
    }

    /// The type of the name. Names that lead nowhere are not remembered: what has the type may be
    /// loaded later.
    func type(named name: String) -> (any IdentifiedModel.Type)? {
        if let type = known.withLock({ $0.types[name] }) { return type }
        guard let type = _typeByName(name) as? any IdentifiedModel.Type else { return nil }
        known.withLock { known in
            if known.types.count < Self.limit { known.types[name] = type }
        }
        return type
    }
}
