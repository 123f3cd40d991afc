import EspalierModels

// Models in the style of RocketData's sample app: a protocol of the app that refines `Model`, final
// classes, `==` as a free function, and `map` that returns the class by name. Only `any` is added,
// which the settings of this package require.

protocol SampleAppModel: Model {
    init?(data: [AnyHashable: Any])
    func data() -> [AnyHashable: Any]
}
