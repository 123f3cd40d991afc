// Only what holds a container can be deleted with a child in it: the containers themselves always
// have a value left.

extension Optional: ModelField where Wrapped: ModelField {
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> Wrapped?? {
        .some(flatMap { $0.mapModels(transform) })
    }

    public func forEachModel(_ visit: (any Model) -> Void) { self?.forEachModel(visit) }

    public func isEqualField(to other: Wrapped?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let value?, let other?): value.isEqualField(to: other)
        default: false
        }
    }
}

extension Array: ModelField where Element: ModelField {
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> [Element]? {
        compactMap { $0.mapModels(transform) }
    }

    public func forEachModel(_ visit: (any Model) -> Void) {
        for element in self { element.forEachModel(visit) }
    }

    public func isEqualField(to other: [Element]) -> Bool {
        elementsEqual(other) { $0.isEqualField(to: $1) }
    }
}

/// Elements that become equal are one element.
extension Set: ModelField where Element: ModelField {
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> Set<Element>? {
        var mapped = Set<Element>(minimumCapacity: count)
        for element in self {
            if let element = element.mapModels(transform) { mapped.insert(element) }
        }
        return mapped
    }

    public func forEachModel(_ visit: (any Model) -> Void) {
        for element in self { element.forEachModel(visit) }
    }

    public func isEqualField(to other: Set<Element>) -> Bool { self == other }
}

/// The values; keys are kept as they are.
extension Dictionary: ModelField where Value: ModelField {
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> [Key: Value]? {
        compactMapValues { $0.mapModels(transform) }
    }

    public func forEachModel(_ visit: (any Model) -> Void) {
        for value in values { value.forEachModel(visit) }
    }

    public func isEqualField(to other: [Key: Value]) -> Bool {
        count == other.count
            && allSatisfy { key, value in other[key].map { value.isEqualField(to: $0) } ?? false }
    }
}
