import EspalierModels

// The models of RocketData's sample app in shape: a protocol of the app's own over `Model`, final
// classes, `==` as a free function, `map` returning the class by name. Only `any` is added, which
// this package's settings demand.

protocol SampleAppModel: Model {
    init?(data: [AnyHashable: Any])
    func data() -> [AnyHashable: Any]
}
